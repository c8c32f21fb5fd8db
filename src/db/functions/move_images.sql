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

  -- Each block is read once: to look into it again is to parse all of its image again.
  WITH block AS MATERIALIZED (
    SELECT e.place, e.block, s.media_type, d.data, encode(sha256(d.data), 'hex') AS digest
    FROM json_array_elements(v_message.content) WITH ORDINALITY AS e(block, place),
      LATERAL json_to_record(CASE WHEN json_typeof(e.block) = 'object' THEN e.block END) AS b(type text, source json),
      LATERAL json_to_record(CASE WHEN b.type = 'image' AND json_typeof(b.source) = 'object' THEN b.source END) AS s(type text, media_type text, data text),
      LATERAL (SELECT CASE WHEN s.type = 'base64' THEN decode(s.data, 'base64') END AS data OFFSET 0) d
  ), moved AS (
    INSERT INTO image (tenant, digest, data)
    SELECT DISTINCT ON (digest) v_message.tenant, digest, data FROM block WHERE digest IS NOT NULL ORDER BY digest ON CONFLICT DO NOTHING
  )
  SELECT coalesce(json_agg(CASE WHEN digest IS NULL THEN block ELSE
    json_build_object('type', 'image', 'source', json_build_object(
      'type', 'kept', 'media_type', media_type, 'digest', digest, 'bytes', octet_length(data)))
    END ORDER BY place), '[]')
  INTO v_content FROM block;

  UPDATE message SET content = v_content, bytes = octet_length(v_content::text) WHERE id = p_message;
END
$function$;
