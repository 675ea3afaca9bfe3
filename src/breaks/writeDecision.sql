-- Writes what a person decided of breaks, and one event each. $1 [{break_id, verdict,
-- amount_limit}], $2 the words of the trail, $3 owner, $4 who, $5 when, $6 whether the name is a
-- claim, $7 the decision, $8 over what.
with decided as (
  select * from jsonb_to_recordset($1::jsonb)
    as d (break_id bigint, verdict text, amount_limit numeric)
),
before as (
  select b.break_id, b.state from tieout.breaks b join decided using (break_id)
),
changed as (
  update tieout.breaks b set
    state = case d.verdict when 'waived' then 'waived' when 'reopened' then 'open'
      else b.state end,
    note = case when d.verdict = 'noted' then $2::text else b.note end,
    owner = case when d.verdict = 'assigned' then $3::text else b.owner end,
    waived_by = case when d.verdict = 'waived' then $4 else b.waived_by end,
    waived_reason = case when d.verdict = 'waived' then $2 else b.waived_reason end,
    waived_limit = case when d.verdict = 'waived' then d.amount_limit
      else b.waived_limit end,
    waiver_asked_by = case d.verdict when 'waiver_asked' then $4
      when 'waiver_refused' then null else b.waiver_asked_by end,
    waiver_asked_reason = case d.verdict when 'waiver_asked' then $2
      when 'waiver_refused' then null else b.waiver_asked_reason end,
    waiver_asked_for = case d.verdict when 'waiver_asked' then b.fingerprint
      when 'waiver_refused' then null else b.waiver_asked_for end
  from decided d where b.break_id = d.break_id
  returning b.break_id, d.verdict, b.currency, b.amount, b.expected, b.actual
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, is_claim,
  reason, currency, amount, expected, actual, decision_id, decided_over)
select c.break_id, null, $5::timestamptz, c.verdict, before.state, $4, $6,
  $2, c.currency, c.amount, c.expected, c.actual, $7::uuid, $8
from changed c join before using (break_id) order by c.break_id
returning event_id
