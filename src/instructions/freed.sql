-- What of all that waits was freed by a setting that changed since the account was last planned? It
-- is held until a person has seen it, and bears the words of the setting from then on.
-- $1 run, $2 pull, $3 changes as json, one row a change of an account
-- (core/instructions/freeingChange.ts): [{account_id, kind, words, from_time, until_time, codes,
-- operation, policy, above, max_count, max_amount}].
with change as materialized (
  select * from jsonb_to_recordset($3::jsonb) as c (account_id text, kind text, words text,
    from_time timestamptz, until_time timestamptz, codes text[], operation text, policy text,
    above jsonb, max_count bigint, max_amount jsonb)
),
-- Requests that were history in any plan before: they were not paid then because they were done. An
-- account that is only observed frees nothing yet; it is asked once it may send.
acted as materialized (
  select before.account_id, max(before.acted_from) as at
  from tieout.run_accounts ra
  join tieout.run_accounts before using (account_id)
  where ra.run_id = $1::bigint and ra.send_block is distinct from 'observed'
  group by before.account_id
),
candidate as materialized (
  select i.*, coalesce(i.refund_amount, i.amount) as money,
    coalesce(r.requested_at, p.requested_at) as requested_at,
    a.placed_at, a.capture_amount, a.ledger_amount, i.approval_id is not null as is_approved
  from tieout.instructions i
  join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = i.account_id
  left join tieout.ledger_refunds() r on i.operation = 'refund'
    and r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
  left join tieout.ledger_payouts() p on p.account_id collate "C" = i.account_id
    and p.request_id collate "C" = case when i.operation = 'payout' then i.transaction_id end
  left join (
    select account_id, order_no, placed_at, capture_amount, amount as ledger_amount
    from :asked_orders where pull_id = $2::bigint
  ) a on a.account_id = i.account_id and a.order_no = i.order_no
  where i.is_open and (i.state in ('planned', 'held', 'queued')
    or i.state = 'unknown' and i.resends = 0)
    -- most runs have nothing that a setting could have freed, and ask no further
    and (exists (select from change) or i.operation in ('refund', 'payout')
      or (i.account_id, i.order_no) in (
        select account_id, order_no from tieout.instructions where freed_by is not null))
),
told as materialized (
  select c.*, case
    -- also what was approved, or freed by another setting: nobody saw to whom it would go
    when merchant.words <> coalesce(c.freed_by, '')
      and (c.state <> 'unknown' or c.operation in ('capture', 'cancel')) then merchant.words
    when c.freed_by is null and (c.state = 'unknown' or not c.is_approved)
    then coalesce(
    case when c.state <> 'unknown' and c.requested_at < acted.at
      then 'accounts[].liveFrom: requests before '
        || to_char(acted.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        || ' were history' end,
    (select min(change.words) from change where change.account_id = c.account_id and case
      when c.state = 'unknown' then change.kind = 'resend' and c.operation in ('capture', 'cancel')
      else case change.kind
      when 'live_from' then c.operation = 'refund' and exists (
        select from tieout.ledger_refunds() other
        where other.account_id collate "C" = c.account_id
          and other.order_no collate "C" = c.order_no
          and other.requested_at >= change.from_time and other.requested_at < change.until_time)
      when 'payment_status' then exists (
        select from :look_entries e
        where e.pull_id = $2 and e.account_id = c.account_id and e.order_no = c.order_no
          and (e.is_extra or not e.is_extra) and e.payment_status = any (change.codes))
      when 'query_result' then exists (
        select from :look_entries e
        where e.pull_id = $2 and e.account_id = c.account_id and e.order_no = c.order_no
          and (e.is_extra or not e.is_extra) and e.query_result = any (change.codes))
      when 'currency' then c.currency = any (change.codes)
      when 'partial_capture' then c.capture_amount <> c.ledger_amount
      when 'payout_unit' then c.operation = 'payout'
      when 'policy' then c.state <> 'held' and change.operation = c.operation
        and (change.policy <> 'auto' or (change.above is not null and (not change.above ? c.currency
          or c.money > (change.above ->> c.currency)::numeric
          or c.source_currency is not null and (c.source_amount is null
            or not change.above ? c.source_currency
            or c.source_amount > (change.above ->> c.source_currency)::numeric))))
      else false end end),
    -- asked for anew after an edit in the ledger: nobody has seen it yet
    (select f.freed_by from tieout.instructions f
      where f.freed_by is not null and f.state = 'withdrawn' and not f.is_refused
        and f.approval_id is null and f.account_id = c.account_id and f.order_no = c.order_no
        and f.operation = c.operation and f.refund_id is not distinct from c.refund_id
        and c.state <> 'unknown'
      order by f.instruction_id desc limit 1)
  ) end as freed
  from candidate c
  left join acted using (account_id)
  left join change merchant on merchant.account_id = c.account_id and merchant.kind = 'merchant'
),
-- The lowest limit that any account of this run had before holds for all of them, as limits do.
limits as materialized (
  select operation, min(max_count) as max_count, min(words) as words,
    (select jsonb_object_agg(key, least) from (
      select key, min(value::numeric) as least
      from change one, jsonb_each_text(one.max_amount)
      where one.kind = 'limit' and one.operation = change.operation group by key
    ) amounts) as max_amount
  from change where kind = 'limit' group by operation
),
-- What went in this run before. Of a payout in two currencies both sums count, as in plan.sql.
gone as materialized (
  select u.operation, 1 as count, u.currency,
    greatest(coalesce(u.refund_amount, u.amount),
      case when u.source_currency = u.currency then u.source_amount end) as money,
    u.source_currency, u.source_amount
  from tieout.instructions u
  where u.instruction_id in (select tieout.made_or_sent($1))
    and u.operation in (select operation from limits)
    and u.state not in ('planned', 'held', 'queued', 'withdrawn')
),
used as materialized (
  select operation, sum(count) as count, currency, sum(money) as money
  from (
    select operation, count, currency, money from gone
    union all
    select operation, 0, source_currency, source_amount from gone
    where source_currency <> currency
  ) as sides
  group by operation, currency
),
spent as (
  select t.instruction_id, t.operation, t.account_id, t.order_no,
    coalesce(t.requested_at, t.placed_at) as since, side.count, side.currency, side.money,
    l.words, l.max_count, (l.max_amount ->> side.currency)::numeric as max_money
  from told t
  join limits l using (operation)
  cross join lateral (values
    (1, t.currency, greatest(t.money,
      case when t.source_currency = t.currency then t.source_amount end)),
    (0, case when t.source_currency <> t.currency then t.source_currency end, t.source_amount)
  ) as side (count, currency, money)
  where t.state in ('planned', 'queued') and t.freed is null and side.currency is not null
),
counted as (
  select instruction_id, words, bool_or(count > max_count or money > max_money) as is_past
  from (
    select instruction_id, words, max_count, max_money,
      sum(count) over by_operation + coalesce(
        (select sum(u.count) from used u where u.operation = spent.operation), 0) as count,
      sum(money) over by_currency + coalesce((select u.money from used u
        where u.operation = spent.operation and u.currency = spent.currency), 0) as money
    from spent
    window by_operation as (partition by operation order by since, account_id, order_no),
      by_currency as (partition by operation, currency order by since, account_id, order_no)
  ) as sums
  group by instruction_id, words
),
newly as (
  select instruction_id, state, approval_id, freed from told where freed is not null
  union all
  select t.instruction_id, t.state, t.approval_id, c.words
  from counted c join told t using (instruction_id)
  where not t.is_approved and c.is_past
)
update tieout.instructions i
set freed_by = n.freed, changed_by = 'tieout',
  state = case when i.state = 'unknown' then i.state else 'held' end,
  reason = case when i.state = 'unknown' then i.reason else n.freed end,
  batch_id = case when i.state = 'unknown' then i.batch_id end,
  hold_reason = case when i.state = 'unknown' then null
    when i.state <> 'held' or i.hold_reason in ('approval', 'above_limit', 'over_limit_of_run')
      then 'newly_freed'
    else i.hold_reason end
from newly n
-- a person may have decided it just now
where i.instruction_id = n.instruction_id and i.state = n.state
  and i.approval_id is not distinct from n.approval_id
