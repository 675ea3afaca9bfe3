-- Writes once what became of an attempt and of each of its entries. Only instructions that are
-- still sending move: after somebody called them unknown, a late answer changes nothing here.
-- $1 attempt, $2 outcome, $3 reason, $4 entries as json, $5 now. One row if it was not written yet.
with attempt as (
  update tieout.attempts
  set outcome = $2::text, finished_at = clock_timestamp(), reason = $3::text
  where attempt_id = $1::uuid and outcome is null
  returning batch_id
),
batch as (
  update tieout.batches b set state = $2::text, reason = $3::text
  from attempt
  where b.batch_id = attempt.batch_id and b.state = 'sending'
  returning b.batch_id, b.run_id
),
entries as (
  update tieout.instructions i
  set state = o.kind, outcome_code = o.code, outcome_message = o.message,
    gateway_reference = o.reference, reason = o.reason, changed_by = 'tieout',
    settled_at = case when o.kind = 'rejected' then $5::timestamptz end,
    settled_run_id = case when o.kind = 'rejected' then batch.run_id end
  from batch, jsonb_to_recordset($4::jsonb) as o (instruction_id bigint, kind text, code text,
    message text, reference text, reason text)
  where i.batch_id = batch.batch_id and i.instruction_id = o.instruction_id
    and i.state = 'sending'
  returning i.instruction_id
)
select count(*) as written from attempt
