-- Breaks that match, counted: in all (one row, key null) or put together by what they have in
-- common, largest first. $1 to $13 as tieout.found_breaks has them, $14 limit, $15 by what (null:
-- in all), $16 the ages, with the instants between which a break of each was first seen, or none,
-- $17 a currency whose money says which is largest, or null for the number of breaks, $18 offset.
with found as (
  select case $15::text
      when 'cause' then f.cause
      when 'kind' then f.kind
      when 'account' then f.account_id
      when 'currency' then f.currency
      when 'owner' then f.owner
      when 'age' then age.name
      when 'page' then f.page
      when 'batch' then f.batch
      when 'delta' then f.difference || ' ' || f.currency
      when 'text' then f.text
    end as key, f.account_id, f.order_no, f.first_seen, f.currency, f.stake
  from tieout.found_breaks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) f
  left join jsonb_to_recordset($16::jsonb)
    as age (name text, "seenFrom" timestamptz, "seenBefore" timestamptz)
    on (age."seenFrom" is null or f.first_seen >= age."seenFrom")
      and (age."seenBefore" is null or f.first_seen < age."seenBefore")
),
money as (
  select key, jsonb_object_agg(currency, amount) as money
  from (
    select key, currency, round(sum(stake), 2)::text as amount
    from found where currency is not null and stake is not null
    group by key, currency
  ) as sums
  group by key
)
select key, count(*) as breaks, count(distinct (account_id, order_no)) as orders,
  min(first_seen) as oldest,
  (select m.money from money m where m.key is not distinct from found.key) as money,
  count(*) filter (where stake is null or currency is null) as without_amount
from found
group by key
order by case when $17::text is not null then coalesce(round(sum(stake)
    filter (where currency = $17), 2), 0) end desc nulls last, breaks desc, oldest, key
limit $14 offset $18
