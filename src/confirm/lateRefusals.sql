-- Answers that came after a person had found that what they answer happened, of what no look shows:
-- payouts, and refunds, of which one part looks like another. The newest first; for so many days
-- from the answer. What the person knew stands with the finding. $1 accounts, $2 days.
with said as materialized (
  select distinct on (instruction_id) instruction_id, decided_by, answers_known
  from tieout.decisions
  where finding = 'happened' order by instruction_id, decision_id desc
)
select i.account_id, i.instruction_id, i.operation, i.order_no, said.decided_by, t.batch_id,
  array(select jsonb_array_elements_text(t.entries)::bigint) as entries, a.http_status,
  a.content_type, a.content_encoding, a.body
from said
cross join lateral (
  select i as whole, i.* from tieout.instructions i
  where i.instruction_id = said.instruction_id and i.account_id = any ($1::text[])
    and i.state = 'confirmed' and i.operation in ('payout', 'refund') offset 0
) i
cross join lateral tieout.attempts_of(i.whole) t
join tieout.answers a using (attempt_id)
where a.attempt_id <> all (coalesce(said.answers_known, '{}'))
  and a.received_at > now() - make_interval(days => $2::int)
order by i.account_id, i.instruction_id desc, a.received_at desc
