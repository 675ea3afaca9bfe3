-- Refunds of a run that the gateway calls as it called another one, or counts as one more than the
-- ledger ever asked for. $1 run, $2 limit.
select * from (
  select i.account_id, i.order_no, i.instruction_id, i.transaction_id,
    i.gateway_reference as reference,
    exists (select from tieout.instructions o
      where o.account_id = i.account_id and o.order_no = i.order_no
        and o.instruction_id <> i.instruction_id
        and o.gateway_reference = i.gateway_reference) as is_twice,
    (select count(*) from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id
        and r.order_no collate "C" = i.order_no) as requests
  from tieout.instructions i
  where i.settled_run_id = $1 and i.operation = 'refund' and i.state = 'confirmed'
    -- the gateway's own word, not a person's
    and i.outcome_code is not null and i.gateway_reference is not null
) refund
where is_twice or substr(reference, 1, length(reference) - 2) = transaction_id || '-'
  and case when right(reference, 2) ~ '^[0-9]{2}$' then right(reference, 2)::int > requests
    else false end
order by account_id, order_no, instruction_id limit $2
