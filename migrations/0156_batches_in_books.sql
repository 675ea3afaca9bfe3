-- Up Migration
-- A batch is in the books of what is payable where one of its lines is in that of the gateway:
-- booked since they began, or settling a movement that is not history, however early it was booked.
create function tieout.is_in_books(b tieout.settlement_batches, since timestamptz) returns boolean
language sql stable as $$
  select b.last_booked_at >= since or exists (
    select from tieout.settlement_lines l
    join tieout.settlement_matches t using (settlement_line_id)
    join tieout.movements m using (movement_id)
    where l.account_id = b.account_id and l.batch = b.batch and l.settle_currency = b.currency
      and not m.is_history)
$$;

create or replace function tieout.batch_days(accounts text[], since date, cut_off time,
  timezone text)
returns table (account_id text, batch text, currency text, day date, lines bigint, gross numeric,
  fees numeric, chargebacks numeric, other numeric, paid_out numeric)
language sql stable as $$
  with counted as materialized (
    select b.account_id, b.batch, b.currency, b.payout, b.has_payout, b.last_booked_at
    from tieout.settlement_batches b
    where b.account_id = any (accounts)
      and tieout.is_in_books(b, (since + cut_off) at time zone timezone)
  ),
  brought as materialized (
    select l.account_id, l.batch, l.settle_currency as currency, day, count(*) as lines,
      coalesce(sum(l.gross) filter (where l.type in ('captured', 'refunded')), 0) as gross,
      coalesce(sum(l.fee), 0) - coalesce(sum(l.gross) filter (where l.type = 'fee'), 0) as fees,
      coalesce(-sum(l.gross) filter (where l.type in ('chargeback', 'chargeback_reversed')), 0)
        as chargebacks,
      coalesce(sum(l.gross) filter (where l.type in ('reserve', 'carried', 'adjustment')), 0)
        as other,
      max(l.booked_at) filter (where l.type = 'payout') as paid_at
    from tieout.settlement_lines l
    cross join lateral (
      select greatest(tieout.business_date_of(l.booked_at, cut_off, timezone), since) as day
    ) booked
    where (l.account_id, l.batch, l.settle_currency) in (
      select c.account_id, c.batch, c.currency from counted c)
    group by l.account_id, l.batch, l.settle_currency, day
  ),
  paid as (
    select c.account_id, c.batch, c.currency, c.payout,
      greatest(tieout.business_date_of(coalesce(case when c.has_payout then max(b.paid_at) end,
        c.last_booked_at), cut_off, timezone), since) as day
    from counted c
    left join brought b using (account_id, batch, currency)
    group by c.account_id, c.batch, c.currency, c.payout, c.has_payout, c.last_booked_at
  )
  select account_id, batch, currency, day, coalesce(b.lines, 0), coalesce(b.gross, 0),
    coalesce(b.fees, 0), coalesce(b.chargebacks, 0), coalesce(b.other, 0), coalesce(p.payout, 0)
  from brought b
  full join paid p using (account_id, batch, currency, day)
$$;

-- Down Migration
create or replace function tieout.batch_days(accounts text[], since date, cut_off time,
  timezone text)
returns table (account_id text, batch text, currency text, day date, lines bigint, gross numeric,
  fees numeric, chargebacks numeric, other numeric, paid_out numeric)
language sql stable as $$
  with counted as materialized (
    select b.account_id, b.batch, b.currency, b.payout, b.has_payout, b.last_booked_at
    from tieout.settlement_batches b
    where b.account_id = any (accounts)
      and b.last_booked_at >= (since + cut_off) at time zone timezone
  ),
  brought as materialized (
    select l.account_id, l.batch, l.settle_currency as currency, day, count(*) as lines,
      coalesce(sum(l.gross) filter (where l.type in ('captured', 'refunded')), 0) as gross,
      coalesce(sum(l.fee), 0) - coalesce(sum(l.gross) filter (where l.type = 'fee'), 0) as fees,
      coalesce(-sum(l.gross) filter (where l.type in ('chargeback', 'chargeback_reversed')), 0)
        as chargebacks,
      coalesce(sum(l.gross) filter (where l.type in ('reserve', 'carried', 'adjustment')), 0)
        as other,
      max(l.booked_at) filter (where l.type = 'payout') as paid_at
    from tieout.settlement_lines l
    cross join lateral (
      select greatest(tieout.business_date_of(l.booked_at, cut_off, timezone), since) as day
    ) booked
    where (l.account_id, l.batch, l.settle_currency) in (
      select c.account_id, c.batch, c.currency from counted c)
    group by l.account_id, l.batch, l.settle_currency, day
  ),
  paid as (
    select c.account_id, c.batch, c.currency, c.payout,
      greatest(tieout.business_date_of(coalesce(case when c.has_payout then max(b.paid_at) end,
        c.last_booked_at), cut_off, timezone), since) as day
    from counted c
    left join brought b using (account_id, batch, currency)
    group by c.account_id, c.batch, c.currency, c.payout, c.has_payout, c.last_booked_at
  )
  select account_id, batch, currency, day, coalesce(b.lines, 0), coalesce(b.gross, 0),
    coalesce(b.fees, 0), coalesce(b.chargebacks, 0), coalesce(b.other, 0), coalesce(p.payout, 0)
  from brought b
  full join paid p using (account_id, batch, currency, day)
$$;
drop function tieout.is_in_books(tieout.settlement_batches, timestamptz);
