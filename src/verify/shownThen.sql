-- Which transactions does a run show of which the book is not plainly what is shown? Each with what
-- was booked before the run and with what the run left. Instructions are those of the scratch
-- schema, as they stood when the run was added up. $1 run, $2 accounts, $3 business date, $4 json
-- [{account_id, live_from}], $5 whether what lines of the acquirer told on that date was known
-- before the night booked, and not behind it: nothing bears an instant that would say it.
with account as materialized (
  select account_id collate "C" as account_id, live_from
  from jsonb_to_recordset($4::jsonb) as a (account_id text, live_from timestamptz)
),
undecided as materialized (
  select account_id, order_no,
    array_agg(distinct case operation when 'capture' then 'captured' else 'refunded' end) as kinds
  from pg_temp.instructions
  where is_open and operation in ('capture', 'refund')
    and state in ('sending', 'accepted', 'unknown')
  group by account_id, order_no
),
shown as materialized (
  select distinct on (account_id, transaction_id) *
  from tieout.shown_transactions($1, $2)
  order by account_id, transaction_id, order_no
),
book as materialized (
  select m.account_id, m.transaction_id, m.movement_id, m.kind, m.made, m.currency,
    m.order_no, m.run_id = $1 and m.made = 'elsewhere' as is_new,
    case when later.is_there then later.amount else m.amount end as amount_after,
    case when earlier.is_there then earlier.amount else m.amount end as amount_before
  from tieout.movements m
  left join lateral (
    select true as is_there, a.amount from tieout.movement_amounts a
    where a.movement_id = m.movement_id and coalesce(a.run_id <= $1,
      a.business_date <= $3::date - (a.known_by = 'settlement' and not $5)::int)
    order by a.amount_id desc limit 1
  ) later on true
  left join lateral (
    select true as is_there, a.amount from tieout.movement_amounts a
    where a.movement_id = m.movement_id and coalesce(a.run_id < $1,
      a.business_date <= $3::date - (not (a.known_by = 'settlement' and $5))::int)
    order by a.amount_id desc limit 1
  ) earlier on true
  where m.account_id = any ($2) and m.run_id <= $1
    -- what was sent after the run had ended is booked under it, and was not there then
    and (m.run_id < $1 or m.made <> 'here' or exists (
      select from pg_temp.instructions i
      where i.instruction_id = m.instruction_id and i.state = 'confirmed'))
),
booked as materialized (
  select account_id, transaction_id, min(order_no) as order_no,
    coalesce(jsonb_agg(jsonb_build_object('movementId', movement_id::text, 'kind', kind, 'made',
      made, 'currency', currency, 'amount', amount_before::text) order by movement_id)
      filter (where not is_new), '[]') as before,
    coalesce(jsonb_agg(jsonb_build_object('movementId', movement_id::text, 'kind', kind, 'made',
      made, 'currency', currency, 'amount', amount_after::text) order by movement_id), '[]')
      as after,
    count(*) as movements, bool_or(is_new) as is_new,
    bool_or(is_new or amount_after is distinct from amount_before) as is_touched,
    bool_and(made = 'elsewhere') as is_elsewhere, bool_or(made = 'elsewhere') as has_elsewhere,
    min(kind) as kind, min(currency) as currency, min(amount_after) as amount
  from book group by 1, 2
)
select coalesce(s.account_id, b.account_id) as account_id, coalesce(s.order_no, b.order_no)
    as order_no, coalesce(s.transaction_id, b.transaction_id) as transaction_id, s.state,
  s.currency, s.amount::text as amount, coalesce(u.kinds, '{}') as undecided,
  requested.amount::text as requested, coalesce(b.before, '[]') as before,
  coalesce(b.after, '[]') as after
from shown s
full join booked b on b.account_id = s.account_id and b.transaction_id = s.transaction_id
left join undecided u on u.account_id = s.account_id and u.order_no = s.order_no
left join account on account.account_id = s.account_id
cross join lateral (
  select case when s.state = 'partially_refunded' and bool_and(coalesce(
      r.refund_amount > 0 and r.refund_amount = round(r.refund_amount, 2)
        and r.refund_amount < 1e18, false))
      and coalesce(sum(r.refund_amount)
        = tieout.refunded_beside(s.account_id, s.transaction_id, s.pull_id), true)
      and coalesce(sum(r.refund_amount) < 1e18, true)
    then sum(r.refund_amount)::numeric(20, 2) else 0.00 end as amount
  from tieout.asked_refunds r
  where r.pull_id = s.pull_id and r.account_id = s.account_id and r.order_no = s.order_no
    and r.requested_at < account.live_from
    and not exists (
      select from pg_temp.instructions i
      where i.account_id = r.account_id and i.refund_id = r.refund_id
        and i.operation = 'refund' and i.state = 'confirmed')
) requested
where case
  -- not seen in this run: nothing may have been booked of it but what we made
  when s.account_id is null then b.is_touched
  when s.state in ('partially_refunded', 'refunded') then true
  when s.state <> 'captured' then coalesce(b.has_elsewhere, false)
  when b.account_id is null then true
  when not b.has_elsewhere then false
  else not (b.movements = 1 and b.is_elsewhere and b.kind = 'captured'
    and b.currency = s.currency and b.amount = s.amount
    and (not b.is_new or ('captured' = any (u.kinds)) is not true))
end
