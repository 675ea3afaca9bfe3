-- What a claim withdrew since the run before, since the ledger asked for it no more, of orders for
-- which this run left something to do, and of payouts for which the ledger asks. By account, how
-- many and one of them. $1 run.
select i.account_id, count(*) as instructions,
  count(*) filter (where i.approval_id is not null) as approved, min(i.order_no) as sample,
  (array_agg(i.operation = 'payout' order by i.order_no))[1] as is_payout
from tieout.instructions i
join tieout.run_accounts ra on ra.run_id = $1::bigint and ra.account_id = i.account_id
left join (
  select distinct account_id collate "C" as account_id, request_id from tieout.ledger_payouts()
) p on i.operation = 'payout' and p.account_id = i.account_id and p.request_id = i.transaction_id
left join tieout.verdicts v
  on v.run_id = ra.run_id and v.account_id = i.account_id and v.order_no = i.order_no
where (i.settled_run_id = $1 or i.settled_at is not null and i.settled_run_id is null)
  and i.state = 'withdrawn' and i.changed_by = 'tieout'
  -- a plan takes what it withdraws out of its batch before
  and i.batch_id is not null and i.reason in ('no longer asked for', 'what is needed has changed')
  and case when i.operation = 'payout' then p.request_id is not null
      -- paid otherwise: that is why
      and not exists (select from tieout.calls_by_hand(i.transaction_id))
      and not exists (
        select from tieout.instructions other
        where other.operation = 'payout' and other.transaction_id = i.transaction_id
          and (other.account_id <> i.account_id or other.state in ('accepted', 'confirmed'))
          and not other.is_void)
    else v.class = 'due' or 'missing_in_ledger' = any (v.kinds) end
group by i.account_id order by i.account_id
