-- What waits although its request is history now is withdrawn, and bears the setting by name: a
-- later liveFrom has done it, and whoever asked for it or approved it is to be told.
-- $1 run, $2 accounts as json [{account_id, live_from, reason}], $3 now.
update tieout.instructions i
set state = 'withdrawn', hold_reason = null, settled_at = $3::timestamptz,
  settled_run_id = $1::bigint, changed_by = 'tieout', reason = a.reason
from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz, reason text)
where i.account_id = a.account_id collate "C" and i.state in ('planned', 'held', 'queued')
  and case i.operation
    when 'refund' then exists (
      select from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
        and r.requested_at < a.live_from)
    when 'payout' then exists (
      select from tieout.ledger_payouts() p
      where p.account_id collate "C" = i.account_id
        and p.request_id collate "C" = i.transaction_id and p.requested_at < a.live_from)
    else false end
