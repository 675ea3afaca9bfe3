-- Which codes did the answers of a run's batches bear? One means accepted where the profile says
-- so, and rejected where every entry with it was. What a snapshot shows later gives none a meaning.
-- $1 run, $2 digest of the profile, $3 now, $4 those of a status, $5 those of a refund_message.
with answered as (
  select i.account_id, case when i.operation = 'refund' then 'refund_message'
      else i.operation || '_status' end as field, i.outcome_code as word,
    bool_and(i.state = 'rejected') as is_rejected, i.currency, count(*) as entries,
    sum(coalesce(i.refund_amount, i.amount)) as amount, min(i.order_no) as first_order,
    max(i.order_no) as last_order
  from tieout.batches b join tieout.instructions i using (batch_id)
  where b.run_id = $1::bigint and i.outcome_code is not null
    and i.operation in ('capture', 'cancel', 'refund', 'review')
  group by i.account_id, i.operation, i.outcome_code, i.currency
)
insert into tieout.gateway_words (account_id, field, word, run_id, meaning, profile_sha256, entries,
  money, samples, seen_at)
select account_id, field, left(word, 200), $1, case
    when left(word, 200) = any (
      case when field = 'refund_message' then $5::text[] else $4::text[] end) then 'accepted'
    when bool_and(is_rejected) then 'rejected' end, $2, sum(entries),
  jsonb_object_agg(currency, round(amount, 2)::text),
  array(select distinct sample from unnest(array_agg(first_order) || array_agg(last_order))
    as sample order by sample limit 3),
  $3::timestamptz
from answered group by account_id, field, left(word, 200)
on conflict (account_id, field, word, run_id) do update set meaning = excluded.meaning,
  profile_sha256 = excluded.profile_sha256, entries = excluded.entries, money = excluded.money,
  samples = excluded.samples, seen_at = excluded.seen_at
