-- What of all that waits was freed by a setting that changed since the account was last planned? It
-- is held until a person has seen it, and bears the words of the setting from then on.
-- $1 run, $2 pull, $3 changes as json, one row a change of an account
-- (core/instructions/freeing/freeingChange.ts): [{account_id, kind, words, from_time, until_time,
-- codes, operation, policy, above, max_count, max_amount, above_now, count_now, amount_now}]; those
-- of now end in _now, and a policy that changed is auto by now.
with change as materialized (
  select * from jsonb_to_recordset($3::jsonb) as c (account_id text, kind text, words text,
    from_time timestamptz, until_time timestamptz, codes text[], operation text, policy text,
    above jsonb, max_count bigint, max_amount jsonb, above_now jsonb, count_now bigint,
    amount_now jsonb)
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
-- So were those of an operation that was off: they were done elsewhere, or are not to be done.
off_by as materialized (
  select s.settings_id, s.at, mode.key as operation
  from tieout.run_settings s
  cross join lateral jsonb_each_text(s.settings #> '{operations,mode}') mode
  where mode.value = 'off' and mode.key in ('refund', 'payout')
),
off as materialized (
  select before.account_id, off_by.operation, max(off_by.at) as at
  from tieout.run_accounts ra
  join tieout.run_accounts before using (account_id)
  join off_by on off_by.settings_id = before.planned_by
  where ra.run_id = $1::bigint
  group by before.account_id, off_by.operation
),
candidate as materialized (
  select i.*, coalesce(i.refund_amount, i.amount) as money,
    coalesce(r.requested_at, p.requested_at) as requested_at,
    a.placed_at, a.capture_amount, a.ledger_amount, i.approval_id is not null as is_approved
  from (
    select * from tieout.instructions
    where is_open and (state in ('planned', 'held', 'queued') or state = 'unknown' and resends = 0)
      -- most runs have nothing that a setting could have freed, and ask no further
      and (exists (select from change) or operation in ('refund', 'payout')
        or (account_id, order_no) in (
          select account_id, order_no from tieout.instructions where freed_by is not null))
    union all
    -- what waited, and is asked for by nobody now, bears the words in case it comes back
    select * from tieout.instructions gone
    where gone.is_void and gone.state = 'withdrawn' and not gone.is_refused
      and gone.account_id in (select account_id from change)
      and not exists (
        select from tieout.instructions later
        where later.account_id = gone.account_id and later.order_no = gone.order_no
          and later.operation = gone.operation
          and later.refund_id is not distinct from gone.refund_id
          and later.instruction_id > gone.instruction_id)
  ) i
  join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = i.account_id
  left join tieout.ledger_refunds() r on i.operation = 'refund'
    and r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
  left join tieout.ledger_payouts() p on p.account_id collate "C" = i.account_id
    and p.request_id collate "C" = case when i.operation = 'payout' then i.transaction_id end
  left join (
    select account_id, order_no, placed_at, capture_amount, amount as ledger_amount
    from :asked_orders where pull_id = $2::bigint
  ) a on a.account_id = i.account_id and a.order_no = i.order_no
),
-- In the words of all that freed it, beside those that it bears already: who approves it sees them.
told as materialized (
  select c.*, said.words as freed
  from candidate c
  left join acted on acted.account_id = c.account_id and c.freed_by is null
    and c.state <> 'unknown' and c.requested_at < acted.at
  -- What was there was weighed as that changed; what only a person lets go was freed by nothing.
  left join off on off.account_id = c.account_id and off.operation = c.operation
    and c.run_id = $1 and c.freed_by is null and c.requested_at < off.at
    and (c.state = 'planned'
      or c.state = 'held' and c.hold_reason not in ('approval', 'above_limit'))
  left join lateral (
    select concat_ws('; ', c.freed_by, string_agg(one.words, '; ' order by one.words)) as words
    from (
      -- also of what was approved: nobody saw to whom it would go
      select words from change
      where account_id = c.account_id and kind = 'merchant'
        and (c.state <> 'unknown' or c.operation in ('capture', 'cancel'))
      union
      select 'accounts[].liveFrom: requests before '
        || to_char(acted.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' were history'
      where not c.is_approved
      union
      select 'operations.' || c.operation || ': it was off until '
        || to_char(off.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      where not c.is_approved
      union
      -- asked for anew after an edit in the ledger, or back in it: nobody has seen it yet
      select * from (
        select f.freed_by from tieout.instructions f
        left join tieout.decisions d on d.decision_id = f.approval_id
        where f.freed_by is not null and f.state = 'withdrawn' and not f.is_refused
          and d.row_before ->> 'freed_by' is distinct from f.freed_by
          and f.account_id = c.account_id and f.order_no = c.order_no
          and f.operation = c.operation and f.refund_id is not distinct from c.refund_id
          and c.freed_by is null and c.state in ('planned', 'held', 'queued') and not c.is_approved
        order by f.instruction_id desc limit 1) back
      union
      select change.words from change
      where change.account_id = c.account_id and (c.state = 'unknown' or not c.is_approved) and case
        when c.state = 'unknown'
          then change.kind = 'resend' and c.operation in ('capture', 'cancel')
        else case change.kind
        when 'live_from' then c.operation = 'refund' and acted.at is null and exists (
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
        when 'partial_capture' then coalesce(c.capture_amount <> c.ledger_amount, c.is_part)
        when 'payout_unit' then c.operation = 'payout'
        -- of an amount that nobody knows each waits for a person, then and now
        when 'policy' then c.operation = change.operation and c.is_in_totals and (
          select bool_or(holds) filter (where was) and not bool_or(holds) filter (where not was)
          from (
            select was, not goes or above is not null and (not above ? c.currency
              or c.money > (above ->> c.currency)::numeric
              or c.source_currency is not null and (c.source_amount is null
                or not above ? c.source_currency
                or c.source_amount > (above ->> c.source_currency)::numeric)) as holds
            from (values (true, change.policy = 'auto', change.above),
              (false, true, change.above_now)) as policy (was, goes, above)
          ) as policies)
        -- alone too much for any run: its turn would have come in no night
        when 'limit' then c.operation = change.operation and (
          select bool_or(holds) filter (where was) and not bool_or(holds) filter (where not was)
          from (
            select was, coalesce(count = 0, false) or coalesce(
              c.money > (amount ->> c.currency)::numeric
                or c.source_amount > (amount ->> c.source_currency)::numeric, false) as holds
            from (values (true, change.max_count, change.max_amount),
              (false, change.count_now, change.amount_now)) as run_limit (was, count, amount)
          ) as limits)
        else false end end
    ) one
    where strpos(coalesce(c.freed_by, ''), one.words) = 0
    having count(*) > 0
  ) said on true
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
  state = case when i.state in ('unknown', 'withdrawn') then i.state else 'held' end,
  reason = case when i.state in ('unknown', 'withdrawn') then i.reason else n.freed end,
  batch_id = case when i.state in ('unknown', 'withdrawn') then i.batch_id end,
  hold_reason = case when i.state in ('unknown', 'withdrawn') then null
    when i.state <> 'held' or i.hold_reason in ('approval', 'above_limit', 'over_limit_of_run')
      then 'newly_freed'
    else i.hold_reason end
from newly n
-- a person may have decided it just now
where i.instruction_id = n.instruction_id and i.state = n.state
  and i.approval_id is not distinct from n.approval_id
