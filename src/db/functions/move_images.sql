-- Moves the images of a message of before, which stand in its content as base64, into rows of their own.
--
-- A message without images only learns its bytes. One that knows its bytes has been here before, and stays as it is.
--
-- Locks: the message's row; new images, by digest. It is the owner of the agent's lease who calls this, before the message goes to a model.
CREATE OR REPLACE FUNCTION move_images(p_message text)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
DECLARE
  v_message message;
  v_content json;
BEGIN
  SELECT * INTO v_message FROM message WHERE id = p_message AND bytes IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  INSERT INTO image (tenant, digest, data)
  SELECT DISTINCT ON (i.digest) v_message.tenant, i.digest, i.data
  FROM (
    SELECT encode(sha256(d.data), 'hex') AS digest, d.data
    FROM json_array_elements(v_message.content) b, LATERAL (SELECT decode(b -> 'source' ->> 'data', 'base64') AS data) d
    WHERE b ->> 'type' = 'image' AND b -> 'source' ->> 'type' = 'base64'
  ) i
  ORDER BY i.digest ON CONFLICT DO NOTHING;

  SELECT coalesce(json_agg(CASE WHEN b ->> 'type' = 'image' AND b -> 'source' ->> 'type' = 'base64' THEN
      json_build_object('type', 'image', 'source', json_build_object(
        'type', 'kept',
        'media_type', b -> 'source' ->> 'media_type',
        'digest', encode(sha256(decode(b -> 'source' ->> 'data', 'base64')), 'hex'),
        'bytes', octet_length(decode(b -> 'source' ->> 'data', 'base64'))))
    ELSE b END ORDER BY place), '[]')
  INTO v_content FROM json_array_elements(v_message.content) WITH ORDINALITY AS e(b, place);

  UPDATE message SET content = v_content, bytes = octet_length(v_content::text) WHERE id = p_message;
END
$function$;
