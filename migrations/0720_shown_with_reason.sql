-- Up Migration
-- What a person is shown of an instruction before they decide: what the decision is bound to
-- (tieout.seen_of), and why it waits. By whoever brings an older digest, in a workbook or from a
-- page of yesterday, nothing is decided that waits for another reason by now. The approval itself
-- is not bound to the reason, which ends with it; of what waits for nothing it is what is seen.
create function tieout.shown_sha256(i tieout.instructions, seen jsonb)
returns text language sql stable as $function$
  select tieout.seen_sha256(seen || jsonb_strip_nulls(
    jsonb_build_object('waitsFor', i.hold_reason, 'freedBy', i.freed_by)))
$function$;

-- Down Migration
drop function tieout.shown_sha256(tieout.instructions, jsonb);
