-- No byte had left: the attempt ends, its batch and instructions wait again, and where it was the
-- canary another batch may be that.
-- $1 attempt, $2 reason, $3 tries that it counts for.
with attempt as (
  update tieout.attempts
  set outcome = 'not_sent', finished_at = clock_timestamp(), reason = $2::text
  where attempt_id = $1::uuid and outcome is null
  returning batch_id, account_id, sending_run_id
),
batch as (
  update tieout.batches b set state = 'queued', tries = tries + $3::int, reason = $2::text
  from attempt
  where b.batch_id = attempt.batch_id and b.state = 'sending'
  returning b.batch_id
),
entries as (
  update tieout.instructions i set state = 'queued', changed_by = 'tieout', reason = $2::text
  from batch
  where i.batch_id = batch.batch_id and i.state = 'sending'
  returning i.instruction_id
),
canary as (
  update tieout.run_accounts ra set sending = 'untried', canary_batch_id = null
  from attempt
  where ra.run_id = attempt.sending_run_id and ra.account_id = attempt.account_id
    and ra.canary_batch_id = attempt.batch_id
  returning ra.account_id
)
select count(*) as written from attempt
