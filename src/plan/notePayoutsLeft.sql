-- Requests of payouts, paid or not, that the ledger has no more: when that was first seen. One that
-- is back has not left; answers how many left or came back. Of all accounts, whichever a run is of:
-- another one may have the request by now, by another number and with a night of its own.
-- Differences of whole sets: the ledger keeps its history, and of a set that is too large to be
-- hashed `in` would ask all of it for each row. In order, since two runs may note at once. $1 now,
-- $2 accounts, null: all.
with there as materialized (
  select distinct account_id collate "C" as account_id, request_id from tieout.ledger_payouts()
  where ($2::text[] is null or account_id collate "C" = any ($2)) and request_id is not null
),
returned as materialized (
  select l.account_id, l.request_id
  from tieout.payouts_left l join there using (account_id, request_id)
  order by l.account_id, l.request_id
  for update of l
),
back as (
  delete from tieout.payouts_left l using returned
  where l.account_id = returned.account_id and l.request_id = returned.request_id
  returning 1
),
gone as (
  select account_id, transaction_id from tieout.instructions
  where operation = 'payout' and ($2 is null or account_id = any ($2))
    and transaction_id is not null
  except
  select account_id, request_id from there
),
noted as (
  insert into tieout.payouts_left (account_id, request_id, left_at)
  select account_id, transaction_id, $1::timestamptz from gone
  where not exists (select from tieout.payouts_left l
    where l.account_id = gone.account_id and l.request_id = gone.transaction_id)
  order by account_id, transaction_id
  on conflict do nothing
  returning 1
)
select (select count(*) from back)::int + (select count(*) from noted)::int as changed
