-- What a claim withdrew since the run before, since the ledger asked for it no more, of orders for
-- which this run left something to do, and of payouts for which the ledger asks; and payouts and
-- refunds that this run had planned anew, since the ledger asks for them again, after a claim or a
-- plan of an earlier run had withdrawn them, if nobody was told. By account, how many and one of
-- them. $1 run.
with late as (
  select i.account_id, i.order_no, i.operation, i.transaction_id, i.approval_id
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
      else v.class = 'due' or 'missing_in_ledger' = any (v.kinds) end
  union all
  select was.account_id, was.order_no, was.operation, was.transaction_id, was.approval_id
  from tieout.instructions anew
  cross join lateral (
    select * from tieout.instructions i
    where i.account_id = anew.account_id and i.order_no = anew.order_no
      and i.operation = anew.operation and i.instruction_id < anew.instruction_id
      and i.refund_id is not distinct from anew.refund_id
    order by i.instruction_id desc limit 1
  ) was
  join tieout.runs told on told.run_id = was.settled_run_id
  where anew.run_id = $1 and anew.operation in ('payout', 'refund') and was.settled_run_id <> $1
    and was.state = 'withdrawn' and was.changed_by = 'tieout'
    and was.reason = 'no longer asked for'
    and (was.batch_id is not null or was.approval_id is not null)
    and (told.summary -> 'notices' @> jsonb_build_array(jsonb_build_object(
      'kind', 'withdrawn_late', 'accountId', was.account_id))) is not true
)
select l.account_id, count(*) as instructions,
  count(*) filter (where l.approval_id is not null) as approved, min(l.order_no) as sample,
  (array_agg(l.operation = 'payout' order by l.order_no))[1] as is_payout
from late l
where l.operation <> 'payout'
  -- paid otherwise: that is why
  or not exists (select from tieout.calls_by_hand(l.transaction_id))
  and not exists (
    select from tieout.instructions other
    where other.operation = 'payout' and other.transaction_id = l.transaction_id
      and (other.account_id <> l.account_id or other.state in ('accepted', 'confirmed'))
      and not other.is_void)
group by l.account_id order by l.account_id
