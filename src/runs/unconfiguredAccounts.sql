-- Accounts of which there are breaks, instructions, movements of money, batches of the acquirer
-- or decisions about days, and which the configuration does not name: one look into each index for
-- each account, however many rows there are. $1 accounts of the configuration.
with recursive of_breaks as (
  select min(account_id) as account_id from tieout.breaks
  union all
  select (select min(b.account_id) from tieout.breaks b where b.account_id > f.account_id)
  from of_breaks f where f.account_id is not null
),
of_instructions as (
  select min(account_id) as account_id from tieout.instructions
  union all
  select (select min(i.account_id) from tieout.instructions i where i.account_id > f.account_id)
  from of_instructions f where f.account_id is not null
),
of_movements as (
  select min(account_id) as account_id from tieout.movements
  union all
  select (select min(m.account_id) from tieout.movements m where m.account_id > f.account_id)
  from of_movements f where f.account_id is not null
),
of_batches as (
  select min(account_id) as account_id from tieout.settlement_batches
  union all
  select (select min(b.account_id) from tieout.settlement_batches b
    where b.account_id > f.account_id)
  from of_batches f where f.account_id is not null
),
of_days as (
  select min(account_id) as account_id from tieout.day_events
  union all
  select (select min(d.account_id) from tieout.day_events d where d.account_id > f.account_id)
  from of_days f where f.account_id is not null
)
select account_id from of_breaks where account_id <> all ($1::text[])
union
select account_id from of_instructions where account_id <> all ($1)
union
select account_id from of_movements where account_id <> all ($1)
union
select account_id from of_batches where account_id <> all ($1)
union
select account_id from of_days where account_id <> all ($1)
order by account_id
