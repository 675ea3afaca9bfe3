-- Planned instructions become queued in batches: one account, one operation, at most $3 entries
-- an operation; partial refunds apart and at most $4. One row an instruction.
-- $1 accounts, null for all, $2 now, $3 entries by operation as json, $4 partial refunds a batch,
-- $5 null or only these instructions.
with waiting as materialized (
  select instruction_id, run_id, account_id, operation,
    operation = 'refund' and refund_amount < amount as is_partial
  from tieout.instructions
  where ($1::text[] is null or account_id = any ($1)) and state = 'planned'
    and ($5::bigint[] is null or instruction_id = any ($5))
  for update
),
placed as materialized (
  select w.*, (row_number() over (partition by run_id, account_id, operation, is_partial
      order by instruction_id) - 1)
    / case when is_partial then $4::int else ($3::jsonb ->> operation)::int end as place
  from waiting w
),
cut as materialized (
  select run_id, account_id, operation, is_partial, place,
    nextval(pg_get_serial_sequence('tieout.batches', 'batch_id')) as batch_id
  from (select distinct run_id, account_id, operation, is_partial, place from placed) as batch
),
made as (
  insert into tieout.batches (batch_id, run_id, account_id, operation, state, created_at)
  overriding system value
  select batch_id, run_id, account_id, operation, 'queued', $2::timestamptz from cut
  returning batch_id
)
update tieout.instructions i
set state = 'queued', batch_id = cut.batch_id, changed_by = 'tieout'
from placed
join cut using (run_id, account_id, operation, is_partial, place)
where i.instruction_id = placed.instruction_id
returning i.operation, i.batch_id, i.account_id
