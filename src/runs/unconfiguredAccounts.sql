-- Accounts of which there are breaks or instructions and which the configuration does not name: one
-- look into each index for each account, however many rows there are. $1 accounts of the
-- configuration.
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
)
select account_id from of_breaks where account_id <> all ($1::text[])
union
select account_id from of_instructions where account_id <> all ($1)
order by account_id
