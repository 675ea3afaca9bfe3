-- Up Migration
-- A chargeback is disputed money until all of its money is reversed, and both are found by the
-- order of ours that they are about, whatever each of them names.

-- Where a break of a line stands: on the order of ours that it is about, by whatever it names it;
-- else on what it calls the order, else on its batch. The one home of what a line is about: a
-- transaction is one of a movement, else of what we sent.
create or replace function tieout.place_of_line(line tieout.settlement_lines) returns text
language sql stable as $$
  select coalesce(
    (select m.order_no from tieout.settlement_matches t join tieout.movements m using (movement_id)
      where t.settlement_line_id = line.settlement_line_id),
    (select min(m.order_no) from tieout.movements m
      where m.account_id = line.account_id and m.transaction_id = line.transaction_id),
    (select min(i.order_no) from tieout.instructions i
      where i.account_id = line.account_id and i.transaction_id = line.transaction_id
        and i.operation <> 'payout' and not i.is_void),
    line.order_no,
    'batch ' || line.batch)
$$;

-- What was taken back and not reversed in full, of these lines of chargebacks and reversals, by the
-- order that they are about; a transaction that nobody knows stands for its own. The one home of
-- what a chargeback still takes: breaks and held refunds both ask it.
create function tieout.not_reversed(of_lines bigint[])
returns table (account_id text, place text, currency text, amount numeric, batches text,
  lines bigint, order_nos text[], transaction_ids text[])
language sql stable as $$
  select account_id, (array_agg(place order by settlement_line_id))[1], currency, sum(amount),
    string_agg(distinct batch, ', '), count(*),
    array_agg(distinct order_no) filter (where order_no is not null),
    array_agg(distinct transaction_id) filter (where transaction_id is not null)
  from (
    select l.*, p.place, l.transaction_id is not null and l.order_no is null
        and p.place = 'batch ' || l.batch as is_apart
    from tieout.settlement_lines l
    cross join lateral (select tieout.place_of_line(l) as place offset 0) p
    where l.settlement_line_id = any (of_lines)
      and l.type in ('chargeback', 'chargeback_reversed')
  ) line
  group by account_id, currency, case when not is_apart then place end,
    case when is_apart then transaction_id end
  having sum(amount) < 0
$$;

create index settlement_lines_charging_back on tieout.settlement_lines (settlement_line_id)
  where type in ('chargeback', 'chargeback_reversed');

create or replace function tieout.disputed_money()
returns table (account_id text, order_no text, transaction_id text)
language sql stable as $$
  with charged as materialized (
    select * from tieout.not_reversed(array(
      select settlement_line_id from tieout.settlement_lines
      where type in ('chargeback', 'chargeback_reversed')))
  )
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
  union all
  select account_id, place, null from charged
  union all
  select account_id, named, null from charged cross join unnest(order_nos) as o (named)
  union all
  select account_id, null, named from charged cross join unnest(transaction_ids) as t (named)
$$;

-- Lines of chargebacks and reversals that bear on an order and its transaction: what names one of
-- the two, and all that is about the order that those are about. Found by indexes alone: the claim
-- of a batch asks for each refund.
create function tieout.chargebacks_about(of_account text, of_order text, by text) returns bigint[]
language sql stable as $$
  with named as materialized (
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = of_account and l.order_no = of_order
      and l.type in ('chargeback', 'chargeback_reversed')
    union
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = of_account and l.transaction_id = by
      and l.type in ('chargeback', 'chargeback_reversed')
  ),
  place as materialized (
    select of_order as order_no
    union
    select tieout.place_of_line(l)
    from named join tieout.settlement_lines l using (settlement_line_id)
  ),
  known as materialized (
    select m.transaction_id from place
    join tieout.movements m on m.account_id = of_account and m.order_no = place.order_no
    union
    select i.transaction_id from place
    join tieout.instructions i on i.account_id = of_account and i.order_no = place.order_no
    where i.operation <> 'payout' and not i.is_void
  ),
  about as (
    select l.settlement_line_id from place
    join tieout.settlement_lines l on l.account_id = of_account and l.order_no = place.order_no
      and l.type in ('chargeback', 'chargeback_reversed')
    union
    select l.settlement_line_id from known
    join tieout.settlement_lines l on l.account_id = of_account
      and l.transaction_id = known.transaction_id
      and l.type in ('chargeback', 'chargeback_reversed')
  )
  select array(
    select settlement_line_id from named
    union
    select settlement_line_id from about join tieout.settlement_lines l using (settlement_line_id)
    where tieout.place_of_line(l) in (select order_no from place))
$$;

-- Whether a refund of this would go back for what is taken back already. plan.sql asks the set.
create or replace function tieout.has_dispute(of_account text, of_order text, by text)
returns boolean
language sql stable as $$
  select exists (
    select from tieout.ledger_disputes() d
    where coalesce(d.stage, '') not in ('won', 'withdrawn')
      and d.account_id collate "C" = of_account and d.order_no collate "C" = of_order)
  or exists (
    select from tieout.ledger_disputes() d
    where coalesce(d.stage, '') not in ('won', 'withdrawn')
      and d.account_id collate "C" = of_account and d.transaction_id collate "C" = by)
  or exists (
    select from tieout.not_reversed(tieout.chargebacks_about(of_account, of_order, by)))
$$;

create or replace function tieout.disputes_seen(i tieout.instructions) returns jsonb
language sql stable as $$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'disputes', jsonb_agg(distinct jsonb_build_object(
      'disputeId', left(d.dispute_id, 512), 'stage', d.stage, 'currency', d.currency,
      'amount', round(d.amount, 2)::text, 'order', left(d.order_no, 512),
      'transaction', left(d.transaction_id, 512), 'at', d.at at time zone 'UTC')
      || case when d.batch is null then '{}' else jsonb_build_object('batch', d.batch) end)) end
  from (
    select one.account_id, one.order_no, one.transaction_id, one.dispute_id, null as batch,
      one.stage, one.currency, one.amount, one.at
    from tieout.ledger_disputes() one
    where one.account_id collate "C" = i.account_id and one.order_no collate "C" = i.order_no
    union
    select one.account_id, one.order_no, one.transaction_id, one.dispute_id, null,
      one.stage, one.currency, one.amount, one.at
    from tieout.ledger_disputes() one
    where one.account_id collate "C" = i.account_id
      and one.transaction_id collate "C" = i.transaction_id
    union
    select l.account_id, l.order_no, l.transaction_id, l.line_id, l.batch, l.type, l.currency,
      l.amount, l.booked_at
    from tieout.settlement_lines l
    where l.settlement_line_id = any (
      tieout.chargebacks_about(i.account_id, i.order_no, i.transaction_id))
  ) d
$$;

-- Down Migration
create or replace function tieout.disputes_seen(i tieout.instructions) returns jsonb
language sql stable as $$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'disputes', jsonb_agg(distinct jsonb_build_object(
      'disputeId', left(d.dispute_id, 512), 'stage', d.stage, 'currency', d.currency,
      'amount', round(d.amount, 2)::text, 'order', left(d.order_no, 512),
      'transaction', left(d.transaction_id, 512), 'at', d.at at time zone 'UTC')
      || case when d.batch is null then '{}' else jsonb_build_object('batch', d.batch) end)) end
  from (
    select * from tieout.known_disputes() one
    where one.account_id collate "C" = i.account_id and one.order_no collate "C" = i.order_no
    union
    select * from tieout.known_disputes() one
    where one.account_id collate "C" = i.account_id
      and one.transaction_id collate "C" = i.transaction_id
  ) d
$$;
create or replace function tieout.has_dispute(of_account text, of_order text, by text)
returns boolean
language sql stable as $$
  select exists (select from tieout.disputed_money() d
      where d.account_id collate "C" = of_account and d.order_no collate "C" = of_order)
    or exists (select from tieout.disputed_money() d
      where d.account_id collate "C" = of_account and d.transaction_id collate "C" = by)
$$;
create or replace function tieout.disputed_money()
returns table (account_id text, order_no text, transaction_id text)
language sql stable parallel safe as $$
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
  union all
  select l.account_id, l.order_no, null
  from tieout.settlement_lines l
  where l.type in ('chargeback', 'chargeback_reversed') and l.order_no is not null
  group by l.account_id, l.order_no
  having count(*) filter (where l.type = 'chargeback')
    > count(*) filter (where l.type = 'chargeback_reversed')
  union all
  select l.account_id, null, l.transaction_id
  from tieout.settlement_lines l
  where l.type in ('chargeback', 'chargeback_reversed') and l.transaction_id is not null
  group by l.account_id, l.transaction_id
  having count(*) filter (where l.type = 'chargeback')
    > count(*) filter (where l.type = 'chargeback_reversed')
$$;
drop function tieout.chargebacks_about(text, text, text);
drop index tieout.settlement_lines_charging_back;
drop function tieout.not_reversed(bigint[]);
create or replace function tieout.place_of_line(line tieout.settlement_lines) returns text
language sql stable as $$
  select coalesce(
    (select m.order_no from tieout.settlement_matches t join tieout.movements m using (movement_id)
      where t.settlement_line_id = line.settlement_line_id),
    (select min(m.order_no) from tieout.movements m
      where m.account_id = line.account_id and m.transaction_id = line.transaction_id),
    line.order_no,
    'batch ' || line.batch)
$$;
