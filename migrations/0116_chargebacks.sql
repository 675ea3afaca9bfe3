-- Up Migration
-- A chargeback that stands in the acquirer's settlement and was not reversed is disputed money like
-- a dispute of the ledger: a refund of it waits. Both are counted, by order and by transaction,
-- since a line may name one of them alone.
create index settlement_lines_charged_back on tieout.settlement_lines (account_id, order_no)
  where type in ('chargeback', 'chargeback_reversed') and order_no is not null;
create index settlement_lines_charged_back_of on tieout.settlement_lines
  (account_id, transaction_id)
  where type in ('chargeback', 'chargeback_reversed') and transaction_id is not null;

-- Everything that is known to have been taken back or tried to, as people are told of it.
create function tieout.known_disputes()
returns table (account_id text, order_no text, transaction_id text, dispute_id text, batch text,
  stage text, currency text, amount numeric, at timestamptz, problem text)
language sql stable parallel safe as $$
  select d.account_id, d.order_no, d.transaction_id, d.dispute_id, null::text, d.stage, d.currency,
    d.amount, d.at, d.problem
  from tieout.ledger_disputes() d
  union all
  select l.account_id, l.order_no, l.transaction_id, l.line_id, l.batch, l.type, l.currency,
    l.amount, l.booked_at, null
  from tieout.settlement_lines l
  where l.type in ('chargeback', 'chargeback_reversed')
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

-- Down Migration
create or replace function tieout.disputes_seen(i tieout.instructions) returns jsonb
language sql stable as $$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'disputes', jsonb_agg(distinct jsonb_build_object(
      'disputeId', left(d.dispute_id, 512), 'stage', d.stage, 'currency', d.currency,
      'amount', round(d.amount, 2)::text, 'order', left(d.order_no, 512),
      'transaction', left(d.transaction_id, 512), 'at', d.at at time zone 'UTC'))) end
  from (
    select * from tieout.ledger_disputes() one
    where one.account_id collate "C" = i.account_id and one.order_no collate "C" = i.order_no
    union
    select * from tieout.ledger_disputes() one
    where one.account_id collate "C" = i.account_id
      and one.transaction_id collate "C" = i.transaction_id
  ) d
$$;
create or replace function tieout.disputed_money()
returns table (account_id text, order_no text, transaction_id text)
language sql stable parallel safe as $$
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
$$;
drop function tieout.known_disputes();
drop index tieout.settlement_lines_charged_back_of;
drop index tieout.settlement_lines_charged_back;
