-- Up Migration
-- Numbers of outcomes that the database has forgotten were read by others: after a put-back they go
-- on behind all that were ever given out (send/journal/putBacksStore.ts says how far).
CREATE OR REPLACE FUNCTION tieout.publish_outcomes()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  published bigint;
begin
  perform pg_advisory_xact_lock(hashtext('tieout.outcomes'));
  update tieout.outcome_rows o set seq = next.seq
  from (
    select outcome_id, (select tieout.outcomes_known())
      + row_number() over (order by outcome_id) as seq
    from tieout.outcome_rows where seq is null
  ) next
  where o.outcome_id = next.outcome_id;
  get diagnostics published = row_count;
  return published;
end $function$;

-- The highest number of an outcome that anybody can have read; 0 before the first.
CREATE OR REPLACE FUNCTION tieout.outcomes_known()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select greatest(0, (select max(seq) from tieout.outcome_rows),
    (select max((found -> 'putBack' ->> 'outcomesUpTo')::bigint) from tieout.put_backs))
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.publish_outcomes()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  published bigint;
begin
  perform pg_advisory_xact_lock(hashtext('tieout.outcomes'));
  update tieout.outcome_rows o set seq = next.seq
  from (
    select outcome_id, coalesce((select max(seq) from tieout.outcome_rows), 0)
      + row_number() over (order by outcome_id) as seq
    from tieout.outcome_rows where seq is null
  ) next
  where o.outcome_id = next.outcome_id;
  get diagnostics published = row_count;
  return published;
end $function$;

drop function tieout.outcomes_known();
