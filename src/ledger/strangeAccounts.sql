-- Requests of accounts that are not configured: nobody plans them. By account, how many of the
-- look-back are neither paid nor refused; refund requests are breaks (strayRefunds.sql), save those
-- of an account whose name is too long to be one. $1 accounts that are configured, $2 start of the
-- look-back.
select account_id, kind, count(*) as requests, min(id) as sample
from (
  select r.account_id, 'refund' as kind, left(r.refund_id, 64) as id from tieout.ledger_refunds() r
  where r.requested_at >= $2::timestamptz and r.account_id <> all ($1::text[])
    and tieout.id_problem(r.account_id) is not null
    and not exists (
      select from tieout.instructions i
      where i.account_id = r.account_id collate "C" and i.refund_id = r.refund_id collate "C"
        and i.operation = 'refund' and (i.state = 'confirmed' or i.is_refused))
  union all
  select p.account_id, 'payout', p.request_id from tieout.ledger_payouts() p
  where p.requested_at >= $2 and p.account_id <> all ($1)
    and not exists (
      select from tieout.instructions i
      where i.operation = 'payout' and i.transaction_id = p.request_id
        and (i.state = 'confirmed' or i.is_refused))
) as request
group by account_id, kind
order by account_id, kind
