-- Refunds of a run that the gateway calls as it called another one, counts as one more than the
-- ledger ever asked for, or counts as one more than anybody here knows to have been made of the
-- transaction, up to this one. So many of each account, and how many more there are.
-- $1 run, $2 limit.
select *, case when place = $2 then found - place else 0 end as more
from (
select r.*, count(*) over (partition by r.account_id) as found,
  row_number() over (partition by r.account_id order by r.order_no, r.instruction_id) as place
from (
  select i.account_id, i.order_no, i.instruction_id, i.gateway_reference as reference,
    case when i.gateway_reference ~ '-[0-9]{2}$'
        and substr(i.gateway_reference, 1, length(i.gateway_reference) - 3) = i.transaction_id
      then right(i.gateway_reference, 2)::int end as ordinal,
    exists (select from tieout.instructions o
      where o.account_id = i.account_id and o.order_no = i.order_no
        and o.instruction_id <> i.instruction_id
        and o.gateway_reference = i.gateway_reference) as is_twice,
    (select count(*) from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id
        and r.order_no collate "C" = i.order_no) as requests,
    -- made, or perhaps made: all but those that the gateway counts behind this one
    (select count(*) from tieout.instructions o
      where o.account_id = i.account_id and o.transaction_id = i.transaction_id
        and o.operation = 'refund' and not o.is_void
        and o.state in ('sending', 'accepted', 'unknown', 'confirmed')
        and (o.gateway_reference is null or o.gateway_reference !~ '-[0-9]{2}$'
          or o.gateway_reference <= i.gateway_reference))
    + (select count(*) from tieout.gateway_calls c
      cross join jsonb_array_elements(c.entries) e
      where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', i.transaction_id))
        and c.account_id = i.account_id and c.operation = 'refund'
        and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
        and e ->> 'transaction_id' = i.transaction_id)
    -- made by others: asked for before we were to act, or seen by the book
    + greatest((select count(*) from tieout.ledger_refunds() r
      join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = i.account_id
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no
        and r.requested_at < ra.acted_from),
      (select count(*) from tieout.movements m
      where m.account_id = i.account_id and m.transaction_id = i.transaction_id
        and m.kind = 'refunded' and m.made = 'elsewhere')) as known
  from tieout.instructions i
  where i.settled_run_id = $1 and i.operation = 'refund' and i.state = 'confirmed'
    -- the gateway's own word, not a person's
    and i.outcome_code is not null and i.gateway_reference is not null
) r
where r.is_twice or r.ordinal > r.requests or r.ordinal > r.known
) told
where place <= $2
order by account_id, place
