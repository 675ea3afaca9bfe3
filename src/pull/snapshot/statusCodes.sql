-- Every code the gateway ever used: first and last seen, how often, the newest money and samples,
-- what it means and since which night and profile. Codes without a meaning first.
-- $1 accounts or null.
with night as (
  select w.*, r.business_date,
    lag(w.meaning) over life as meaning_before, row_number() over life as nth,
    row_number() over (partition by w.account_id, w.field, w.word order by r.business_date desc)
      as nth_newest
  from tieout.gateway_words w join tieout.runs r using (run_id)
  where not r.is_dry and ($1::text[] is null or w.account_id = any ($1))
  window life as (partition by w.account_id, w.field, w.word order by r.business_date)
),
meant as (
  select distinct on (account_id, field, word) account_id, field, word, business_date as since,
    profile_sha256
  from night where nth = 1 or meaning is distinct from meaning_before
  order by account_id, field, word, business_date desc
),
whole as (
  select account_id, field, word, min(business_date) as first_seen,
    max(business_date) as last_seen, sum(entries) as entries, count(*) as nights
  from night group by account_id, field, word
)
select w.account_id as "accountId", w.field, w.word, n.meaning, m.since as "meaningSince",
  m.profile_sha256 as "meaningProfile", w.first_seen as "firstSeen", w.last_seen as "lastSeen",
  w.nights, w.entries, n.entries as "newestEntries", n.money as "newestMoney", n.samples
from whole w
join night n using (account_id, field, word)
join meant m using (account_id, field, word)
where n.nth_newest = 1
order by n.meaning is not null, w.account_id, w.field, w.word
