-- Instructions that wait although the snapshots of this pull no longer ask for them are withdrawn:
-- the need vanished, or somebody else did it. Orders without a complete snapshot keep theirs.
-- $1 run, $2 pull, $3 now, $4 operations that are off.
update tieout.instructions i
set state = 'withdrawn', hold_reason = null, settled_at = $3::timestamptz,
  settled_run_id = $1::bigint, changed_by = 'tieout',
  reason = case when exists (
      select from :look_entries e
      where e.pull_id = a.pull_id and e.account_id = a.account_id and e.order_no = a.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)
        and e.transaction_id = i.transaction_id and e.state <> i.from_state
        and e.state = any (i.done_states))
    then 'done elsewhere'
    when i.operation = any ($4::text[]) then 'operations.' || i.operation || ' is off'
    else 'no longer asked for' end
from :asked_orders a
left join :pages p using (pull_id, account_id, page_no)
left join :verdicts v
  on v.run_id = $1 and v.account_id = a.account_id and v.order_no = a.order_no
where a.pull_id = $2::bigint and p.state = 'answered'
  and i.account_id = a.account_id and i.order_no = a.order_no
  and i.state in ('planned', 'held', 'queued')
  and v.not_compared is null
  and (v.need, v.transaction_id, v.need_amount, v.ledger_currency, v.refund_id, v.refund_amount,
    v.review_decision)
    is distinct from (i.operation, i.transaction_id, i.amount, i.currency, i.refund_id,
    i.refund_amount, i.review_decision)
returning i.instruction_id
