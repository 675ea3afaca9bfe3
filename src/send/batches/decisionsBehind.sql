-- The decisions of people on which it rests that these instructions of a batch go out: of one that
-- was approved its approval, given in sight of all before it; of another one what people settled or
-- had planned again of its order, since that lets it go without anybody. $1 batch.
select i.instruction_id as "instructionId", d.decision_id as "decisionId"
from tieout.instructions i
join tieout.decisions d on d.decision_id = i.approval_id
where i.batch_id = $1::bigint and i.state = 'queued'
union all
select i.instruction_id, d.decision_id
from tieout.instructions i
join tieout.instructions other
  on other.account_id = i.account_id and other.order_no = i.order_no
join tieout.decisions d on d.instruction_id = other.instruction_id
where i.batch_id = $1::bigint and i.state = 'queued' and i.approval_id is null
  and d.decision in ('resolve', 'replan')
