-- The three books as they stand since settlement.from, in one look: what was captured and refunded
-- and is not settled yet, what the acquirer made of it, what it pays out. One document. $1 accounts
-- as json [{account_id, due_until}], $2 settlement.from, $3 cut-off, $4 timezone. Every closing is
-- the sum of what openItems.sql lists.
with account as materialized (
  select account_id collate "C" as account_id, due_until
  from jsonb_to_recordset($1::jsonb) as a (account_id text, due_until date)
),
since as (select ($2::date + $3::time) at time zone $4 as at),
movement as materialized (
  select m.movement_id, m.account_id, m.kind, m.currency, m.amount, m.business_date,
    a.due_until, w.movement_id is not null and u.told_of is null as is_awaited
  from account a
  join tieout.movements_now m using (account_id)
  left join tieout.settlement_awaited w using (movement_id)
  left join (
    select distinct told_of from tieout.settlement_unmatched where told_of is not null
  ) u on u.told_of = m.movement_id
  where not m.is_history and m.amount is distinct from 0
),
counted as materialized (
  select l.account_id, l.currency, l.amount, t.movement_id
  from account a
  join tieout.settlement_lines l using (account_id)
  left join tieout.settlement_matches t using (settlement_line_id)
  left join tieout.movements m using (movement_id)
  cross join since
  where l.type in ('captured', 'refunded')
    and not coalesce(m.is_history, l.booked_at < since.at)
),
odd as materialized (
  select m.movement_id
  from movement m
  join (
    select o.movement_id, sum(abs(l.amount)) filter (where l.currency = o.currency) as told,
      bool_or(l.currency <> o.currency) as is_other
    from unnest(tieout.movements_told_of()) t (movement_id)
    join tieout.movements o using (movement_id)
    cross join lateral tieout.lines_of_movement(o.movement_id) s (settlement_line_id)
    join tieout.settlement_lines l using (settlement_line_id)
    group by o.movement_id
  ) s using (movement_id)
  where s.is_other or s.told is distinct from m.amount
),
at_gateway as (
  select account_id, currency, sum(captured) as captured, sum(refunded) as refunded,
    sum(settled) as settled, sum(suspense) as suspense
  from (
    select account_id, currency, coalesce(sum(amount) filter (where kind = 'captured'), 0)
        as captured, coalesce(sum(amount) filter (where kind = 'refunded'), 0) as refunded,
      0 as settled, count(*) filter (where amount is null) as suspense
    from movement group by account_id, currency
    union all
    select account_id, currency, 0, 0, sum(amount), 0 from counted group by account_id, currency
  ) sums
  group by account_id, currency
),
batch as materialized (
  select b.* from account a
  join tieout.settlement_batches b using (account_id)
  cross join since
  where tieout.is_in_books(b, since.at)
),
payable as (
  select l.account_id, l.settle_currency as currency,
    coalesce(sum(l.gross) filter (where l.type in ('captured', 'refunded')), 0) as gross,
    coalesce(sum(l.fee), 0) - coalesce(sum(l.gross) filter (where l.type = 'fee'), 0) as fees,
    coalesce(-sum(l.gross) filter (where l.type in ('chargeback', 'chargeback_reversed')), 0)
      as chargebacks,
    coalesce(sum(l.gross) filter (where l.type in ('reserve', 'carried', 'adjustment')), 0)
      as other
  from tieout.settlement_lines l
  where (l.account_id, l.batch, l.settle_currency) in (
    select account_id, batch, currency from batch)
  group by l.account_id, l.settle_currency
),
paid as (
  select account_id, currency, sum(payout) as paid_out from batch group by account_id, currency
),
-- Each by account once, and not once more for each account: there may be hundreds.
gateway_said as (
  select account_id, jsonb_agg(jsonb_build_object('currency', currency,
      'captured', round(captured, 2)::text, 'refunded', round(refunded, 2)::text,
      'settled', round(settled, 2)::text,
      'closing', round(captured - refunded - settled, 2)::text, 'suspense', suspense)
    order by currency) as rows
  from at_gateway group by account_id
),
payable_said as (
  select p.account_id, jsonb_agg(jsonb_build_object('currency', p.currency,
      'gross', round(p.gross, 2)::text, 'fees', round(p.fees, 2)::text,
      'chargebacks', round(p.chargebacks, 2)::text, 'other', round(p.other, 2)::text,
      'paidOut', round(d.paid_out, 2)::text, 'closing',
      round(p.gross - p.fees - p.chargebacks + p.other - d.paid_out, 2)::text)
    order by p.currency) as rows
  from payable p join paid d using (account_id, currency) group by p.account_id
),
bank_said as (
  select account_id, jsonb_agg(jsonb_build_object('currency', currency,
      'paidOut', round(paid_out, 2)::text, 'arrived', '0.00',
      'closing', round(paid_out, 2)::text) order by currency) as rows
  from paid group by account_id
),
movement_said as (
  select account_id, count(*) filter (where not m.is_awaited and o.movement_id is null) as settled,
    count(*) filter (where m.is_awaited
      and (m.due_until is null or m.business_date > m.due_until)) as open,
    count(*) filter (where m.is_awaited and m.business_date <= m.due_until) as overdue,
    count(*) filter (where not m.is_awaited and o.movement_id is not null) as differs
  from movement m left join odd o using (movement_id) group by account_id
),
break_said as (
  select account_id, jsonb_object_agg(kind, breaks) as kinds
  from (
    select account_id, kind, count(*) as breaks from account join tieout.breaks using (account_id)
    where state = 'open' and tieout.is_settlement_kind(kind)
    group by account_id, kind
  ) b
  group by account_id
),
said as (
  select account_id, jsonb_build_object('accountId', account_id,
    'atGateway', coalesce(g.rows, '[]'), 'payable', coalesce(p.rows, '[]'),
    'bank', coalesce(k.rows, '[]'),
    'movements', jsonb_build_object('settled', coalesce(m.settled, 0),
      'open', coalesce(m.open, 0), 'overdue', coalesce(m.overdue, 0),
      'differs', coalesce(m.differs, 0)),
    'breaks', coalesce(b.kinds, '{}')) as account
  from account
  left join gateway_said g using (account_id)
  left join payable_said p using (account_id)
  left join bank_said k using (account_id)
  left join movement_said m using (account_id)
  left join break_said b using (account_id)
)
select jsonb_build_object(
  'asOf', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'accounts', coalesce((select jsonb_agg(account order by account_id) from said), '[]'),
  'batches', coalesce((select jsonb_agg(jsonb_build_object('accountId', account_id, 'batch', batch,
      'currency', currency, 'lines', lines, 'payout', round(payout, 2)::text, 'arrived', '0.00',
      'state', 'expected') order by account_id, last_booked_at, batch, currency) from batch), '[]'),
  'statements', jsonb_build_object('files', 0, 'entries', 0, 'gaps', 0)) as document
