-- Up Migration
-- What the gateway answered when it was searched for a refund of which nobody can say whether it
-- was done (profile: operations.searchRefund). The document shows neither question nor answer, so
-- nothing is concluded from it: a person reads it and decides. Kept as it came; masked where it is
-- shown.
create table tieout.refund_evidence (
  evidence_id bigint generated always as identity primary key,
  instruction_id bigint not null references tieout.instructions on delete cascade,
  run_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  outcome text not null check (outcome in ('answered', 'not_sent', 'unknown')),
  reason text,
  http_status int,
  body bytea,
  -- once a night
  unique (instruction_id, run_id)
);

-- Down Migration
drop table tieout.refund_evidence;
