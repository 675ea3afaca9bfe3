-- Up Migration
-- Refunds are looked for by their number and by what the gateway calls them; refunds alone, so that
-- captures pay nothing for it.
create index refunds_by_number on tieout.instructions (refund_id) where operation = 'refund';
create index refunds_by_reference on tieout.instructions (refund_reference)
  where refund_reference is not null;
create index refunds_by_gateway_reference on tieout.instructions (gateway_reference)
  where operation = 'refund' and gateway_reference is not null;

-- As in 0173, and words are looked for in the refunds of the break's order, too.
create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts language sql stable as $$
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
      or position(lower(found_breaks.searched) in f.searched) > 0
      or exists (
        select from tieout.instructions i
        where i.account_id = f.account_id and i.order_no = f.order_no and i.operation = 'refund'
          and position(lower(found_breaks.searched) in lower(
            concat_ws(' ', i.refund_id, i.gateway_reference, i.refund_reference))) > 0))
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;

-- Down Migration
create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts language sql stable as $$
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
drop index tieout.refunds_by_gateway_reference;
drop index tieout.refunds_by_reference;
drop index tieout.refunds_by_number;
