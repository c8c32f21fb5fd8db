-- A percentile of the times whose numbers by class are p_classes, as src/db/groups/duration-classes.ts computes them. To sort by.
CREATE OR REPLACE FUNCTION percentile_of_classes(p_classes numeric, p_times bigint, p_fraction double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $function$
  SELECT min(c.ms) FILTER (WHERE c.upto > floor(r.rank)) * (1 - r.rank + floor(r.rank)) + min(c.ms) FILTER (WHERE c.upto > ceil(r.rank)) * (r.rank - floor(r.rank))
  FROM (SELECT p_fraction * (p_times - 1) AS rank) r CROSS JOIN (
    SELECT CASE WHEN d.place = 1 THEN 0 ELSE 0.001 * 1.04::float8 ^ (d.place - 1) * 2 / 2.04 END AS ms, sum(reverse(d.digits[1])::bigint) OVER (ORDER BY d.place) AS upto
    FROM regexp_matches(reverse(p_classes::text), '.{1,8}', 'g') WITH ORDINALITY AS d(digits, place) WHERE d.digits[1] ~ '[1-9]'
  ) c GROUP BY r.rank
$function$;
