-- Up Migration
-- What cardholders took back, or try to: a refund of it would pay the same money a second time. One
-- row a dispute, with its newest stage; a merchant may replace the table by a view.
create table ledger.disputes (
  account_id text collate "C" not null,
  dispute_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C",
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(20, 2) not null check (amount > 0 and amount < 1e18),
  stage text not null check (stage in ('opened', 'won', 'lost', 'withdrawn')),
  at timestamptz not null,
  primary key (account_id, dispute_id)
);
create index disputes_by_order on ledger.disputes (account_id, order_no);
create index disputes_by_transaction on ledger.disputes (account_id, transaction_id)
  where transaction_id is not null;

-- The door: what the columns behind cannot hold comes through as null, with the reason beside it.
create function tieout.ledger_disputes()
returns table (account_id text, dispute_id text, order_no text, transaction_id text, currency text,
  amount numeric, stage text, at timestamptz, problem text)
language sql stable parallel safe as $$
  select d.account_id, d.dispute_id, d.order_no, nullif(d.transaction_id, ''),
    left(d.currency, 16), tieout.usable_amount(d.amount), left(d.stage, 32),
    tieout.usable_instant(d.at),
    case
      when coalesce(d.dispute_id, '') = '' then 'it has no dispute_id'
      when tieout.id_problem(d.dispute_id) is not null
        then 'its dispute_id ' || tieout.id_problem(d.dispute_id)
      when coalesce(d.order_no, d.transaction_id, '') = ''
        then 'it names neither an order nor a transaction'
      when d.stage is null or d.stage not in ('opened', 'won', 'lost', 'withdrawn')
        then 'its stage is none of opened, won, lost, withdrawn'
          || coalesce(': ' || left(d.stage, 32), '')
      when d.amount is null or not (d.amount > 0 and d.amount < 1e18)
        or d.amount <> round(d.amount, 2)
        then 'its amount ' || tieout.amount_problem(d.amount, d.amount_text)
      when tieout.usable_instant(d.at) is null
        then coalesce('its at ' || left(d.at_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no at')
    end
  from (
    select q.account_id::text as account_id, q.dispute_id::text as dispute_id,
      q.order_no::text as order_no, q.transaction_id::text as transaction_id,
      q.currency::text as currency, tieout.amount_in(q.amount) as amount,
      q.amount::text as amount_text, q.stage::text as stage,
      tieout.instant_in(q.at) as at, q.at::text as at_text
    from ledger.disputes q
  ) d
$$;

-- Money that was taken back or may be: by order, and by transaction where one is named. The one
-- home of what counts as disputed. A stage that nobody knows counts: to wait is always safe.
create function tieout.disputed_money()
returns table (account_id text, order_no text, transaction_id text)
language sql stable parallel safe as $$
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
$$;

-- Whether a refund of this would go back for what is taken back already. plan.sql asks the set.
create function tieout.has_dispute(of_account text, of_order text, by text) returns boolean
language sql stable as $$
  select exists (select from tieout.disputed_money() d
      where d.account_id collate "C" = of_account and d.order_no collate "C" = of_order)
    or exists (select from tieout.disputed_money() d
      where d.account_id collate "C" = of_account and d.transaction_id collate "C" = by)
$$;

-- What a person sees of it who decides about a refund; nothing where there is none, so that what
-- was seen before keeps its digest.
create function tieout.disputes_seen(i tieout.instructions) returns jsonb
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

-- An approval from before a dispute was known, or before its stage changed, holds no more.
do $$ begin
  execute regexp_replace(pg_get_functiondef(
      'tieout.seen_at(tieout.instructions, bigint)'::regprocedure),
    '(else ''\{\}'' end)(\s*\$function\$)',
    E'\\1\n    || case when i.operation = ''refund'' then tieout.disputes_seen(i)'
      || E' else ''{}'' end\\2');
  execute regexp_replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '(hold_reason not in \([^)]*)\)', '\1, ''disputed'')');
end $$;

-- Down Migration
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    ', ''disputed''', '');
  execute regexp_replace(pg_get_functiondef(
      'tieout.seen_at(tieout.instructions, bigint)'::regprocedure),
    '\s*\|\| case when i.operation = ''refund'' then tieout.disputes_seen\(i\) else ''\{\}'' end',
    '');
end $$;
drop function tieout.disputes_seen(tieout.instructions);
drop function tieout.has_dispute(text, text, text);
drop function tieout.disputed_money();
drop function tieout.ledger_disputes();
drop table ledger.disputes;
