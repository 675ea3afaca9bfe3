-- Writes once what became of an attempt and of each of its entries. Only instructions that are
-- still sending move: after somebody called them unknown, a late answer changes nothing here.
-- A clean batch, that is one without an unknown entry, opens the account where it was the canary;
-- so many unclean ones in a row stop it. That is about a gateway that is not well: one whose own
-- sender died without an answer counts for nothing, and a canary that died lets another one go.
-- $1 attempt, $2 outcome, $3 reason, $4 entries as json, $5 now, $6 clean, $7 how many in a row,
-- $8 whether its sender is surely gone, $9 to $13 the raw answer, where it is not stored yet: that
-- belongs here even when somebody else has said meanwhile what became of the attempt; $14 whether
-- an unclean one tells anything of the gateway.
with answer as (
  insert into tieout.answers (attempt_id, received_at, http_status, content_type,
    content_encoding, body, body_sha256)
  select attempt_id, clock_timestamp(), $9::int, $10::text, $11::text, $12::bytea, $13::text
  from tieout.attempts where attempt_id = $1::uuid and $9::int is not null
  on conflict do nothing
),
attempt as (
  update tieout.attempts
  set outcome = $2::text, finished_at = clock_timestamp(), reason = $3::text,
    is_sender_gone = $8::boolean
  where attempt_id = $1::uuid and outcome is null
  returning batch_id, account_id, sending_run_id, not $6::boolean and $14::boolean as is_bad
),
batch as (
  update tieout.batches b set state = $2::text, reason = $3::text
  from attempt
  where b.batch_id = attempt.batch_id and b.state = 'sending'
  returning b.batch_id
),
entries as (
  update tieout.instructions i
  set state = o.kind, outcome_code = o.code, outcome_message = o.message,
    gateway_reference = o.reference, reason = o.reason, payout_answer = o.payout,
    refund_reference = o.refund_reference,
    changed_by = 'tieout',
    -- which run counts a refusal is said when one adds up: the figures of this one may be told
    settled_at = case when o.kind = 'rejected' then $5::timestamptz end, settled_run_id = null
  from batch, jsonb_to_recordset($4::jsonb) as o (instruction_id bigint, kind text, code text,
    message text, reference text, reason text, payout jsonb, refund_reference text)
  where i.batch_id = batch.batch_id and i.instruction_id = o.instruction_id
    and i.state = 'sending'
  returning i.instruction_id
),
account as (
  update tieout.run_accounts ra
  set unclean_batches = case when $6::boolean then 0
      else ra.unclean_batches + attempt.is_bad::int end,
    sending = case
      when attempt.is_bad and ra.unclean_batches + 1 >= $7::int then 'stopped'
      when ra.canary_batch_id is distinct from attempt.batch_id then ra.sending
      when $6::boolean then 'open'
      else 'untried' end,
    canary_batch_id = case when not attempt.is_bad or ra.unclean_batches + 1 < $7::int
      then nullif(ra.canary_batch_id, attempt.batch_id) end,
    sending_reason = case when attempt.is_bad and ra.unclean_batches + 1 >= $7::int
      then $7::int || ' batches in a row had entries of which nobody can say what became of '
        || 'them; the last was batch ' || attempt.batch_id
        || coalesce(' (' || left($3::text, 200) || ')', '') end
  from attempt
  where ra.run_id = attempt.sending_run_id and ra.account_id = attempt.account_id
    and ra.sending <> 'stopped'
    -- mostly nothing changes here, and no batch waits for another one's row
    and (attempt.is_bad or $6::boolean and ra.unclean_batches > 0
      or ra.canary_batch_id = attempt.batch_id)
  returning ra.account_id
)
select count(*) as written from attempt
