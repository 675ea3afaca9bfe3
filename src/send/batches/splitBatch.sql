-- Leaves some instructions in a batch that is still queued; the others get a batch of their own.
-- $1 batch, $2 those that stay.
with made as (
  insert into tieout.batches (run_id, account_id, operation, state, created_at)
  select run_id, account_id, operation, 'queued', clock_timestamp()
  from tieout.batches b
  where batch_id = $1::bigint and state = 'queued' and exists (
    select from tieout.instructions i
    where i.batch_id = b.batch_id and i.state = 'queued' and i.instruction_id <> all ($2::bigint[]))
  returning batch_id
)
update tieout.instructions i set batch_id = made.batch_id
from made
where i.batch_id = $1::bigint and i.state = 'queued' and i.instruction_id <> all ($2::bigint[])
