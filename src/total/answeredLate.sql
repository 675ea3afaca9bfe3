-- Instructions that a person found not to have happened and to which an answer came after all,
-- where something went in their place and cannot be called back: nobody is asked again, and the
-- money may have moved twice. The newest first, so many of each account, with how many there are;
-- for so many days from the answer. $1 accounts, $2 limit, $3 days.
with said as materialized (
  select distinct on (instruction_id) instruction_id, decided_by, answers_known
  from tieout.decisions
  where finding = 'not_happened' order by instruction_id, decision_id desc
)
select told.account_id, told.instruction_id, told.operation, told.order_no, told.decided_by, (
    select max(other.instruction_id) from tieout.instructions other
    where other.account_id = told.account_id and other.instruction_id > told.instruction_id
      and other.state in ('sending', 'accepted', 'unknown', 'confirmed') and not other.is_void
      and tieout.is_in_place_of(other, told.whole)) as instead, told.found
from (
  select i as whole, i.account_id, i.instruction_id, i.operation, i.order_no, said.decided_by,
    count(*) over (partition by i.account_id) as found,
    row_number() over (partition by i.account_id order by i.instruction_id desc) as place
  from said join tieout.instructions i using (instruction_id)
  where i.account_id = any ($1::text[]) and i.state = 'rejected'
    and exists (
      select from tieout.answers a
      where a.attempt_id = any (tieout.answers_to(i))
        and a.attempt_id <> all (coalesce(said.answers_known, '{}'))
        and a.received_at > now() - make_interval(days => $3::int))
    and tieout.is_barred(i.instruction_id, '{planned,held,queued}')
) told
where place <= $2::bigint
order by account_id, place
