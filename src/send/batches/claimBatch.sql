-- Claims a batch: queued becomes sending for exactly these instructions, with an attempt on record.
-- No row: somebody else has it. Unequal counts: it is not what was weighed, and the caller rolls
-- back.
-- $1 batch, $2 instructions, $3 attempt, $4 hash of the body, $5 host, $6 boot, $7 pid,
-- $8 birth of the process, $9 seconds until the first byte must have left,
-- $10 the account's newest run, $11 the journal of permits, $12 the request as it is kept.
with batch as (
  update tieout.batches set state = 'sending', attempts = attempts + 1
  where batch_id = $1::bigint and state = 'queued'
  returning batch_id, account_id, attempts
),
entries as (
  update tieout.instructions i set state = 'sending', changed_by = 'tieout', reason = null
  from batch
  where i.batch_id = batch.batch_id and i.state = 'queued'
    and i.instruction_id = any ($2::bigint[])
    -- a dispute may have become known since it was weighed, a moment ago
    and not (i.operation = 'refund'
      and tieout.has_dispute(i.account_id, i.order_no, i.transaction_id)
      and (i.approval_id is null or tieout.approval_lapse(i) is not null))
  returning i.instruction_id
),
others as (
  select count(*) as count from tieout.instructions
  where batch_id = $1::bigint and state = 'queued' and instruction_id <> all ($2::bigint[])
),
attempt as (
  insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries, body_sha256,
    host, boot_id, pid, process_started, claimed_at, send_by, sending_run_id,
    journal_id, request_gzip, looks_before)
  select $3::uuid, batch_id, attempts, account_id, to_jsonb($2::bigint[]::text[]), $4, $5, $6,
    $7::int, $8, clock_timestamp(), clock_timestamp() + make_interval(secs => $9::float8),
    $10::bigint, $11::uuid, $12::bytea, tieout.looks_drawn()
  from batch
  returning attempt_id
)
select (select count(*) from entries) as entries, others.count as others,
  pg_current_xact_id()::text as xid
from attempt cross join others
