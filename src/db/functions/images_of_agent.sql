-- The digests of the images that messages and results of an agent show. Most messages have none: their text says so before it is read as JSON.
CREATE OR REPLACE FUNCTION images_of_agent(p_agent text)
RETURNS text[]
LANGUAGE sql STABLE
AS $function$
  SELECT ARRAY(
    SELECT b -> 'source' ->> 'digest'
    FROM message m CROSS JOIN LATERAL json_array_elements(CASE WHEN m.content::text LIKE '%"kept"%' THEN m.content END) b
    WHERE m.agent_id = p_agent AND m.content IS NOT NULL AND b ->> 'type' = 'image'
    UNION
    SELECT i ->> 'digest'
    FROM tool_call t CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(t.images) = 'array' THEN t.images END) i
    WHERE t.agent_id = p_agent AND t.images IS NOT NULL
  )
$function$;
