-- Instructions that were found not to have happened, and to which an answer came all the same. $1
-- accounts. By their keys, from the few that were disproved: this is asked every few seconds. What
-- a person knew stands with the finding: clocks, which are set, tell nothing of what came first.
select i.instruction_id
from (
  select distinct on (instruction_id) instruction_id, answers_known from tieout.decisions
  where finding = 'not_happened' order by instruction_id, decision_id desc offset 0
) said
cross join lateral (
  select i.instruction_id, tieout.answers_to(i) as answers from tieout.instructions i
  where i.instruction_id = said.instruction_id and i.account_id = any ($1::text[])
    and i.state = 'rejected' offset 0
) i
where not i.answers <@ coalesce(said.answers_known, '{}')
  -- what was sent in its place cannot be called back
  and not tieout.is_barred(i.instruction_id, '{planned,held,queued}')
order by i.instruction_id desc
