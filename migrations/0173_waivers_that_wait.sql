-- Up Migration
-- Waivers that wait for a second person can be looked for as a state of their own.
create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts
language sql stable as $$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states)
      or ('waiver_asked' = any (states) and f.waiver_waits))
    and (found_breaks.currency is null or f.currency = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0)
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;

-- Down Migration
create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts
language sql stable as $$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states))
    and (found_breaks.currency is null or f.currency = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0)
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;
