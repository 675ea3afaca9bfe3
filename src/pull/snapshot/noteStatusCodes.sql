-- Which codes did a run's snapshot show, how often, for how much money? One row a code and run,
-- written anew when the run looks again. $1 run, $2 pull, $3 digest of the profile, $4 now,
-- $5 false: a second snapshot, which only adds codes that the run's own did not show. $6 what the
-- codes of a subscription mean, as json.
with entry as materialized (
  select account_id, payment_status, state, query_result, found, recurring_status, currency,
    count(*) as entries, sum(amount) as amount, min(order_no) as first_order,
    max(order_no) as last_order
  from :look_entries
  -- each half has an index of its own; without this line every run's snapshot would be read
  where pull_id = $2::bigint and (is_extra or not is_extra)
  group by account_id, payment_status, state, query_result, found, recurring_status, currency
),
word as (
  select account_id, 'payment_status' as field, payment_status as word, state as meaning, currency,
    entries, amount, first_order, last_order
  from entry where payment_status is not null
  union all
  select account_id, 'query_result', query_result, case when found then 'found' end, currency,
    entries, amount, first_order, last_order
  from entry where query_result is not null
  union all
  select account_id, 'recurring_status', recurring_status, $6::jsonb ->> recurring_status,
    currency, entries, amount, first_order, last_order
  from entry where recurring_status is not null
),
by_currency as (
  select account_id, field, word, max(meaning) as meaning, coalesce(currency, '') as currency,
    sum(entries) as entries, sum(amount) as amount, min(first_order) as first_order,
    max(last_order) as last_order
  from word group by account_id, field, word, coalesce(currency, '')
)
insert into tieout.gateway_words (account_id, field, word, run_id, meaning, profile_sha256, entries,
  money, samples, seen_at)
select account_id, field, left(word, 200), $1::bigint, max(meaning), $3, sum(entries),
  coalesce(jsonb_object_agg(currency, round(amount, 2)::text)
    filter (where currency <> '' and amount is not null), '{}'),
  array(select distinct sample from unnest(array_agg(first_order) || array_agg(last_order))
    as sample order by sample limit 3),
  $4::timestamptz
from by_currency group by account_id, field, left(word, 200)
on conflict (account_id, field, word, run_id) do update set meaning = excluded.meaning,
  profile_sha256 = excluded.profile_sha256, entries = excluded.entries, money = excluded.money,
  samples = excluded.samples, seen_at = excluded.seen_at
where $5::boolean
