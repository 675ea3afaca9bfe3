-- The decisions of people on which it rests that these instructions of a batch go out: of one that
-- was approved its approval, given in sight of all before it, and those before that, where each is
-- for a reason of its own; of another one what people settled or had planned again of its order,
-- since that lets it go without anybody. $1 batch, $2 reasons of their own.
select i.instruction_id as "instructionId", d.decision_id as "decisionId", null as "approvedFor"
from tieout.instructions i
join tieout.decisions d on d.decision_id = i.approval_id
where i.batch_id = $1::bigint and i.state = 'queued'
union all
select i.instruction_id, d.decision_id, null
from tieout.instructions i
join tieout.instructions other
  on other.account_id = i.account_id and other.order_no = i.order_no
join tieout.decisions d on d.instruction_id = other.instruction_id
where i.batch_id = $1::bigint and i.state = 'queued' and i.approval_id is null
  and d.decision in ('resolve', 'replan')
union all
select i.instruction_id, a.decision_id, a.reason
from tieout.instructions i
cross join lateral tieout.approvals_in_sight(i) a
where i.batch_id = $1::bigint and i.state = 'queued'
  and a.decision_id is distinct from i.approval_id and a.reason = any ($2::text[])
