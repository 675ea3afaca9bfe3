-- Planned instructions become queued in batches: one account, one operation, at most $3 entries
-- an operation; partial refunds apart and at most $4. One row a batch.
-- $1 accounts, null for all, $2 now, $3 entries by operation as json, $4 partial refunds a batch,
-- $5 null or only these instructions.
with waiting as materialized (
  select instruction_id, run_id, account_id, operation,
    operation = 'refund' and refund_amount < amount as is_partial,
    -- no batch names a transaction twice: two orders of one may each have an approved refund
    row_number() over (partition by run_id, account_id, operation, transaction_id
      order by instruction_id) as turn
  from tieout.instructions
  where ($1::text[] is null or account_id = any ($1)) and is_open and state = 'planned'
    and ($5::bigint[] is null or instruction_id = any ($5))
),
placed as (
  select w.*, (row_number() over (partition by run_id, account_id, operation, is_partial, turn
      order by instruction_id) - 1)
    / case when is_partial then $4::int else ($3::jsonb ->> operation)::int end as place
  from waiting w
),
-- The batches are counted through, and found by their place in a list: to join them would compare
-- each instruction with each batch.
counted as materialized (
  select instruction_id,
    dense_rank() over (order by run_id, account_id, operation, is_partial, turn, place) as number
  from placed
),
given as materialized (
  select array_agg(nextval(pg_get_serial_sequence('tieout.batches', 'batch_id'))) as ids
  from generate_series(1, (select max(number) from counted))
),
-- Somebody else may have cut them meanwhile: a batch holds what was planned until now.
cut as (
  update tieout.instructions i
  set state = 'queued', batch_id = (select ids from given)[counted.number], changed_by = 'tieout'
  from counted
  where i.instruction_id = counted.instruction_id and i.state = 'planned'
  returning i.batch_id, i.run_id, i.account_id, i.operation
)
insert into tieout.batches (batch_id, run_id, account_id, operation, state, created_at)
overriding system value
select distinct batch_id, run_id, account_id, operation, 'queued', $2::timestamptz from cut
returning operation, batch_id, account_id
