-- Requests of payouts, paid or not, that the ledger has no more: when that was first seen. One that
-- is back has not left; answers how many left or came back. Of accounts that the configuration has
-- no more nobody else notes it. Differences of whole sets: the ledger
-- keeps its history, and of a set that is too large to be hashed `in` would ask all of it for each
-- row. $1 accounts, $2 now, $3 all of the configuration.
with there as materialized (
  select distinct account_id collate "C" as account_id, request_id from tieout.ledger_payouts()
  where (account_id collate "C" = any ($1::text[]) or account_id collate "C" <> all ($3::text[]))
    and request_id is not null
),
back as (
  delete from tieout.payouts_left l using there
  where l.account_id = there.account_id and l.request_id = there.request_id
  returning 1
),
gone as (
  select account_id, transaction_id from tieout.instructions
  where operation = 'payout' and (account_id = any ($1) or account_id <> all ($3))
    and transaction_id is not null
  except
  select account_id, request_id from there
),
noted as (
  insert into tieout.payouts_left (account_id, request_id, left_at)
  select account_id, transaction_id, $2::timestamptz from gone
  where not exists (select from tieout.payouts_left l
    where l.account_id = gone.account_id and l.request_id = gone.transaction_id)
  on conflict do nothing
  returning 1
)
select (select count(*) from back)::int + (select count(*) from noted)::int as changed
