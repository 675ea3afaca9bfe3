-- The schema as it stands after 1390_host_of_a_chunk, to be read and not to be run: tieout applies the
-- numbered files beside this one. `npm run schema` writes it anew, and a test fails where it differs from what the
-- migrations make, as PostgreSQL 18 prints it. What a row of each table is stands in ARCHITECTURE.md.
-- The partitions of a month are made when the first run of that month begins.

-- Tables

create table ledger.control_totals (
  account_id text collate "C" not null,
  business_date date not null,
  currency text not null,
  count bigint,
  amount numeric(20,2),
  complete_at timestamp with time zone,
  constraint control_totals_pkey PRIMARY KEY (account_id, business_date, currency)
);

create table ledger.disputes (
  account_id text collate "C" not null,
  dispute_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C",
  currency text not null,
  amount numeric(20,2) not null,
  stage text not null,
  at timestamp with time zone not null,
  constraint disputes_amount_check CHECK (amount > 0::numeric AND amount < '1000000000000000000'::numeric),
  constraint disputes_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  constraint disputes_pkey PRIMARY KEY (account_id, dispute_id),
  constraint disputes_stage_check CHECK (stage = ANY (ARRAY['opened', 'won', 'lost', 'withdrawn']))
);
CREATE INDEX disputes_by_order ON ledger.disputes USING btree (account_id, order_no);
CREATE INDEX disputes_by_transaction ON ledger.disputes USING btree (account_id, transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE INDEX disputes_of_transaction ON ledger.disputes USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);

create table ledger.orders (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  currency text not null,
  amount numeric(20,2) not null,
  expected text not null,
  transaction_id text collate "C",
  capture_amount numeric(20,2),
  review_decision text,
  placed_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint orders_amount_check CHECK (amount > 0::numeric AND amount < '1000000000000000000'::numeric),
  constraint orders_check CHECK (capture_amount > 0::numeric AND capture_amount <= amount),
  constraint orders_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  constraint orders_expected_check CHECK (expected = ANY (ARRAY['authorised', 'captured', 'cancelled', 'declined'])),
  constraint orders_pkey PRIMARY KEY (account_id, order_no),
  constraint orders_review_decision_check CHECK (review_decision = ANY (ARRAY['accept', 'reject']))
);

create table ledger.payout_requests (
  request_id uuid not null,
  account_id text collate "C" not null,
  payload jsonb not null,
  requested_at timestamp with time zone not null,
  constraint payout_requests_pkey PRIMARY KEY (request_id)
);

create table ledger.refund_requests (
  account_id text collate "C" not null,
  refund_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_amount numeric(20,2) not null,
  reason text,
  requested_by text,
  requested_at timestamp with time zone not null,
  constraint refund_requests_pkey PRIMARY KEY (account_id, refund_id),
  constraint refund_requests_refund_amount_check CHECK (refund_amount > 0::numeric AND refund_amount < '1000000000000000000'::numeric)
);
CREATE INDEX refund_requests_by_order ON ledger.refund_requests USING btree (account_id, order_no);

create table tieout.answer_shapes (
  account_id text collate "C" not null,
  answer text not null,
  run_id bigint not null,
  looked_at timestamp with time zone not null,
  memory jsonb not null,
  changes jsonb not null,
  constraint answer_shapes_pkey PRIMARY KEY (account_id, answer, run_id),
  constraint answer_shapes_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE
);
CREATE INDEX answer_shapes_by_run ON tieout.answer_shapes USING btree (run_id);

create table tieout.answers (
  attempt_id uuid not null,
  received_at timestamp with time zone not null,
  http_status integer not null,
  content_type text,
  content_encoding text,
  body bytea not null,
  body_sha256 text not null,
  link_id bigint,
  constraint answers_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES tieout.attempts(attempt_id),
  constraint answers_pkey PRIMARY KEY (attempt_id)
);
CREATE INDEX answers_by_link ON tieout.answers USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.answers
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.answers
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.asked_orders (
  pull_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  page_no integer,
  in_ledger boolean not null,
  currency text,
  amount numeric(20,2),
  expected text,
  transaction_id text collate "C",
  capture_amount numeric(20,2),
  review_decision text,
  placed_at timestamp with time zone,
  ledger_problem text,
  constraint asked_orders_pkey PRIMARY KEY (pull_id, account_id, order_no)
) partition by RANGE (pull_id);
CREATE INDEX asked_orders_unasked ON ONLY tieout.asked_orders USING btree (pull_id, account_id) WHERE (page_no IS NULL);
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.asked_orders
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.asked_orders REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.asked_orders_before partition of tieout.asked_orders FOR VALUES FROM (MINVALUE) TO ('10000100000000');
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.asked_orders_before
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.asked_orders_before REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.asked_refunds (
  pull_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_id text collate "C" not null,
  refund_amount numeric,
  requested_at timestamp with time zone
) partition by RANGE (pull_id);
CREATE INDEX asked_refunds_by_pull ON ONLY tieout.asked_refunds USING btree (pull_id, account_id);
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.asked_refunds
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.asked_refunds REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.asked_refunds_before partition of tieout.asked_refunds FOR VALUES FROM (MINVALUE) TO ('10000100000000');
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.asked_refunds_before
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.asked_refunds_before REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.attempts (
  attempt_id uuid not null,
  batch_id bigint not null,
  attempt_no integer not null,
  account_id text collate "C" not null,
  entries jsonb not null,
  body_sha256 text not null,
  host text not null,
  boot_id text not null,
  pid integer not null,
  process_started text not null,
  claimed_at timestamp with time zone not null,
  send_by timestamp with time zone not null,
  outcome text,
  finished_at timestamp with time zone,
  reason text,
  sending_run_id bigint,
  journal_id uuid,
  is_sender_gone boolean,
  request_gzip bytea,
  link_id bigint,
  looks_before bigint,
  constraint attempts_batch_id_attempt_no_key UNIQUE (batch_id, attempt_no),
  constraint attempts_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES tieout.batches(batch_id),
  constraint attempts_check CHECK ((outcome IS NULL) = (finished_at IS NULL)),
  constraint attempts_journal_id_fkey FOREIGN KEY (journal_id) REFERENCES tieout.journals(journal_id),
  constraint attempts_outcome_check CHECK (outcome = ANY (ARRAY['not_sent', 'answered', 'unanswered'])),
  constraint attempts_pkey PRIMARY KEY (attempt_id),
  constraint attempts_sending_run_id_fkey FOREIGN KEY (sending_run_id) REFERENCES tieout.runs(run_id)
);
CREATE INDEX attempts_by_journal ON tieout.attempts USING btree (journal_id, claimed_at);
CREATE INDEX attempts_by_link ON tieout.attempts USING btree (link_id);
CREATE INDEX attempts_by_run ON tieout.attempts USING btree (sending_run_id);
CREATE UNIQUE INDEX attempts_open ON tieout.attempts USING btree (batch_id) WHERE (outcome IS NULL);
CREATE TRIGGER guard_attempt BEFORE UPDATE ON tieout.attempts
  FOR EACH ROW WHEN (NOT new.link_id IS DISTINCT FROM old.link_id)
  EXECUTE FUNCTION tieout.guard_attempt();
CREATE TRIGGER guard_attempt_kept BEFORE DELETE ON tieout.attempts
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_attempt();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.attempts
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE UPDATE ON tieout.attempts
  FOR EACH ROW WHEN (new.link_id IS DISTINCT FROM old.link_id)
  EXECUTE FUNCTION tieout.guard_fact();

create table tieout.batches (
  batch_id bigint generated always as identity not null,
  run_id bigint not null,
  account_id text collate "C" not null,
  operation text not null,
  state text not null,
  created_at timestamp with time zone not null,
  attempts integer default 0 not null,
  tries integer default 0 not null,
  reason text,
  constraint batches_operation_check CHECK (operation = ANY (ARRAY['capture', 'cancel', 'refund', 'review', 'payout'])),
  constraint batches_pkey PRIMARY KEY (batch_id),
  constraint batches_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id),
  constraint batches_state_check CHECK (state = ANY (ARRAY['queued', 'sending', 'answered', 'unanswered', 'dropped']))
);
CREATE INDEX batches_by_account ON tieout.batches USING btree (account_id, run_id);
CREATE INDEX batches_waiting ON tieout.batches USING btree (account_id) WHERE (state = ANY (ARRAY['queued', 'sending']));
CREATE TRIGGER guard_batch BEFORE UPDATE OF state ON tieout.batches
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_batch();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.batches
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.brakes (
  seq bigint generated always as identity not null,
  kind text not null,
  account_id text collate "C",
  is_on boolean not null,
  reason text not null,
  by text not null,
  is_claim boolean not null,
  at timestamp with time zone default clock_timestamp() not null,
  found jsonb,
  link_id bigint,
  constraint brakes_by_check CHECK (btrim(by) <> ''),
  constraint brakes_kind_check CHECK (kind = ANY (ARRAY['brake', 'freeze', 'breaker', 'put_back'])),
  constraint brakes_pkey PRIMARY KEY (seq),
  constraint brakes_reason_check CHECK (btrim(reason) <> '')
);
CREATE INDEX brakes_by_link ON tieout.brakes USING btree (link_id);
CREATE INDEX brakes_put_back ON tieout.brakes USING btree (at) WHERE (found ?| '{restoredFrom,putBack}'[]);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.brakes
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.brakes
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE CONSTRAINT TRIGGER seal_decision AFTER INSERT ON tieout.brakes DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION tieout.seal_decision('seq', '''''');

create table tieout.break_events (
  event_id bigint generated always as identity not null,
  break_id bigint not null,
  run_id bigint,
  at timestamp with time zone not null,
  event text not null,
  from_state text,
  by text not null,
  reason text,
  currency text,
  amount numeric(20,2),
  expected jsonb not null,
  actual jsonb not null,
  cause text,
  is_claim boolean default false not null,
  decision_id uuid,
  decided_over text,
  link_id bigint,
  constraint break_events_break_id_fkey FOREIGN KEY (break_id) REFERENCES tieout.breaks(break_id),
  constraint break_events_cause_check CHECK (cause = ANY (ARRAY['instruction', 'decision', 'outside', 'ledger', 'tolerance', 'gone', 'other_break', 'rules', 'settlement'])),
  constraint break_events_cause_of_resolved CHECK (cause IS NULL OR event = 'resolved'),
  constraint break_events_event_check CHECK (event = ANY (ARRAY['opened', 'reopened', 'resolved', 'waived', 'changed', 'noted', 'assigned', 'waiver_asked', 'waiver_refused'])),
  constraint break_events_from_state_check CHECK (from_state = ANY (ARRAY['open', 'resolved', 'waived'])),
  constraint break_events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX break_events_by_link ON tieout.break_events USING btree (link_id);
CREATE INDEX break_events_by_people ON tieout.break_events USING btree (at) WHERE (by <> 'tieout');
CREATE INDEX break_events_in_order ON tieout.break_events USING btree (break_id, event_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.break_events
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE UPDATE ON tieout.break_events
  FOR EACH ROW WHEN (old.link_id IS NOT NULL OR old.event_id IS DISTINCT FROM new.event_id OR old.break_id IS DISTINCT FROM new.break_id OR old.run_id IS DISTINCT FROM new.run_id OR old.at IS DISTINCT FROM new.at OR old.event IS DISTINCT FROM new.event OR old.from_state IS DISTINCT FROM new.from_state OR old.by IS DISTINCT FROM new.by OR old.reason IS DISTINCT FROM new.reason OR old.currency IS DISTINCT FROM new.currency OR old.amount IS DISTINCT FROM new.amount OR old.expected IS DISTINCT FROM new.expected OR old.actual IS DISTINCT FROM new.actual OR old.cause IS DISTINCT FROM new.cause OR old.is_claim IS DISTINCT FROM new.is_claim OR old.decision_id IS DISTINCT FROM new.decision_id OR old.decided_over IS DISTINCT FROM new.decided_over)
  EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER guard_fact_kept BEFORE DELETE ON tieout.break_events
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE CONSTRAINT TRIGGER seal_decision AFTER INSERT ON tieout.break_events DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (new.by <> 'tieout')
  EXECUTE FUNCTION tieout.seal_decision('event_id', '(select b.account_id from tieout.breaks b where b.break_id = break_events.break_id)');

create table tieout.breaks (
  break_id bigint generated always as identity not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  kind text not null,
  state text not null,
  first_seen timestamp with time zone not null,
  first_run_id bigint not null,
  last_run_id bigint not null,
  expected jsonb not null,
  actual jsonb not null,
  fingerprint text not null,
  currency text,
  amount numeric(20,2),
  owner text,
  note text,
  waived_reason text,
  waiver_asked_by text,
  waiver_asked_reason text,
  waiver_asked_for text,
  waived_by text,
  waived_limit numeric(20,2),
  constraint breaks_account_id_order_no_kind_key UNIQUE (account_id, order_no, kind),
  constraint breaks_check CHECK (state <> 'waived' OR waived_reason IS NOT NULL),
  constraint breaks_kind_check CHECK (kind = ANY (ARRAY['missing_at_gateway', 'missing_in_ledger', 'amount_mismatch', 'currency_mismatch', 'state_mismatch', 'transaction_mismatch', 'duplicate_transaction', 'refund_mismatch', 'stale_authorisation', 'unknown_status', 'invalid_record', 'instruction_rejected', 'outcome_unknown', 'refund_without_order', 'payout_rejected', 'not_settled', 'settled_twice', 'settled_not_captured', 'settled_unknown', 'settlement_amount', 'fee_variance', 'charged_back'])),
  constraint breaks_pkey PRIMARY KEY (break_id),
  constraint breaks_state_check CHECK (state = ANY (ARRAY['open', 'resolved', 'waived']))
);
CREATE INDEX breaks_by_age ON tieout.breaks USING btree (first_seen, break_id) WHERE (state = 'open');
CREATE INDEX breaks_open ON tieout.breaks USING btree (account_id, order_no) WHERE (state <> 'resolved');
CREATE TRIGGER guard_break BEFORE UPDATE ON tieout.breaks
  FOR EACH ROW WHEN (new.state IS DISTINCT FROM old.state)
  EXECUTE FUNCTION tieout.guard_break();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.breaks
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_new_break BEFORE INSERT ON tieout.breaks
  FOR EACH ROW WHEN (new.state <> 'open')
  EXECUTE FUNCTION tieout.guard_new_break();

create table tieout.carried_breaks (
  working_id bigint not null,
  break_id bigint not null,
  account_id text collate "C" not null,
  state text not null,
  expected jsonb not null,
  actual jsonb not null,
  fingerprint text not null,
  currency text,
  amount numeric(20,2),
  last_run_id bigint not null,
  constraint carried_breaks_break_id_fkey FOREIGN KEY (break_id) REFERENCES tieout.breaks(break_id),
  constraint carried_breaks_pkey PRIMARY KEY (working_id, break_id),
  constraint carried_breaks_working_id_fkey FOREIGN KEY (working_id) REFERENCES tieout.workings(working_id)
);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.carried_breaks
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.carried_breaks
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.chain_heads (
  account_id text collate "C" not null,
  link_no bigint default 0 not null,
  sha256 text default '' not null,
  constraint chain_heads_pkey PRIMARY KEY (account_id)
);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.chain_heads
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_head BEFORE UPDATE ON tieout.chain_heads
  FOR EACH ROW WHEN (new.account_id <> old.account_id OR new.link_no <> (old.link_no + 1))
  EXECUTE FUNCTION tieout.guard_head();
CREATE TRIGGER guard_head_kept BEFORE DELETE ON tieout.chain_heads
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_head();

create table tieout.chain_links (
  account_id text collate "C" not null,
  link_no bigint not null,
  link_id bigint not null,
  business_date date not null,
  what text collate "C" not null,
  facts bigint not null,
  facts_sha256 text not null,
  previous_sha256 text not null,
  sha256 text not null,
  sealed_at timestamp with time zone default clock_timestamp() not null,
  constraint chain_links_facts_check CHECK (facts > 0),
  constraint chain_links_link_id_key UNIQUE (link_id),
  constraint chain_links_link_no_check CHECK (link_no > 0),
  constraint chain_links_pkey PRIMARY KEY (account_id, link_no)
);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.chain_links
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.chain_links
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.chunks (
  chunk_id bigint generated always as identity not null,
  pull_id bigint not null,
  account_id text collate "C" not null,
  first_page integer not null,
  last_page integer not null,
  state text default 'queued' not null,
  token uuid,
  leased_until timestamp with time zone,
  tries integer default 0 not null,
  first_order text collate "C",
  last_order text collate "C",
  host text,
  constraint chunks_check CHECK (last_page >= first_page),
  constraint chunks_check1 CHECK ((state = 'running') = (token IS NOT NULL AND leased_until IS NOT NULL)),
  constraint chunks_check2 CHECK ((first_order IS NULL) = (last_order IS NULL)),
  constraint chunks_pkey PRIMARY KEY (chunk_id),
  constraint chunks_pull_id_fkey FOREIGN KEY (pull_id) REFERENCES tieout.pulls(pull_id) ON DELETE CASCADE,
  constraint chunks_state_check CHECK (state = ANY (ARRAY['queued', 'running', 'done']))
);
CREATE INDEX chunks_by_pull ON tieout.chunks USING btree (pull_id);

create table tieout.console_events (
  event_id bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  who text not null,
  action text not null,
  account_id text collate "C",
  subject text default '' not null,
  outcome text not null,
  address text not null,
  constraint console_events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX console_events_by_subject ON tieout.console_events USING btree (action, subject);
CREATE INDEX console_events_known ON tieout.console_events USING btree (lower(who), address, at) WHERE ((action = 'sign in') AND (outcome = 'known'));
CREATE TRIGGER guard_console_event BEFORE DELETE OR UPDATE ON tieout.console_events
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_console_event();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.console_events
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.day_events (
  event_id bigint generated always as identity not null,
  account_id text collate "C" not null,
  business_date date not null,
  event text not null,
  at timestamp with time zone default clock_timestamp() not null,
  by text not null,
  is_claim boolean not null,
  reason text not null,
  figures jsonb not null,
  open_items jsonb not null,
  link_id bigint,
  constraint day_events_by_check CHECK (btrim(by) <> ''),
  constraint day_events_event_check CHECK (event = ANY (ARRAY['closed', 'locked', 'reopened'])),
  constraint day_events_pkey PRIMARY KEY (event_id),
  constraint day_events_reason_check CHECK (btrim(reason) <> '')
);
CREATE INDEX day_events_by_day ON tieout.day_events USING btree (account_id, business_date, event_id);
CREATE INDEX day_events_by_link ON tieout.day_events USING btree (link_id);
CREATE TRIGGER guard_day BEFORE INSERT ON tieout.day_events
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_day();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.day_events
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.day_events
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE CONSTRAINT TRIGGER seal_decision AFTER INSERT ON tieout.day_events DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION tieout.seal_decision('event_id', 'account_id');

create table tieout.day_movements (
  movement_id bigint generated always as identity not null,
  instruction_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  operation text not null,
  currency text not null,
  amount numeric(20,2) not null,
  belongs_to date not null,
  posted_to date not null,
  settled_run_id bigint,
  posted_at timestamp with time zone default clock_timestamp() not null,
  link_id bigint,
  constraint day_movements_amount_check CHECK (amount > 0::numeric),
  constraint day_movements_check CHECK (posted_to >= belongs_to),
  constraint day_movements_instruction_id_fkey FOREIGN KEY (instruction_id) REFERENCES tieout.instructions(instruction_id),
  constraint day_movements_instruction_id_key UNIQUE (instruction_id),
  constraint day_movements_operation_check CHECK (operation = ANY (ARRAY['capture', 'cancel', 'refund', 'payout'])),
  constraint day_movements_pkey PRIMARY KEY (movement_id)
);
CREATE INDEX day_movements_by_day ON tieout.day_movements USING btree (account_id, posted_to);
CREATE INDEX day_movements_by_link ON tieout.day_movements USING btree (link_id);
CREATE INDEX day_movements_by_run ON tieout.day_movements USING btree (account_id, settled_run_id);
CREATE TRIGGER add_day_sums AFTER INSERT ON tieout.day_movements REFERENCING NEW TABLE AS posted
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.add_day_sums();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.day_movements
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE UPDATE ON tieout.day_movements
  FOR EACH ROW WHEN (old.link_id IS NOT NULL OR old.movement_id IS DISTINCT FROM new.movement_id OR old.instruction_id IS DISTINCT FROM new.instruction_id OR old.account_id IS DISTINCT FROM new.account_id OR old.order_no IS DISTINCT FROM new.order_no OR old.operation IS DISTINCT FROM new.operation OR old.currency IS DISTINCT FROM new.currency OR old.amount IS DISTINCT FROM new.amount OR old.belongs_to IS DISTINCT FROM new.belongs_to OR old.posted_to IS DISTINCT FROM new.posted_to OR old.settled_run_id IS DISTINCT FROM new.settled_run_id OR old.posted_at IS DISTINCT FROM new.posted_at)
  EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER guard_fact_kept BEFORE DELETE ON tieout.day_movements
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER guard_movement AFTER INSERT ON tieout.day_movements REFERENCING NEW TABLE AS posted
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_movement();

create table tieout.day_sums (
  account_id text collate "C" not null,
  posted_to date not null,
  currency text not null,
  operation text not null,
  is_late boolean not null,
  amount numeric not null,
  movements bigint not null,
  constraint day_sums_pkey PRIMARY KEY (account_id, posted_to, currency, operation, is_late)
);
CREATE TRIGGER guard_day_sum BEFORE INSERT OR DELETE OR UPDATE ON tieout.day_sums
  FOR EACH ROW WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION tieout.guard_day_sum();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.day_sums
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.decisions (
  decision_id bigint generated always as identity not null,
  instruction_id bigint not null,
  account_id text collate "C" not null,
  decision text not null,
  at timestamp with time zone default clock_timestamp() not null,
  decided_by text not null,
  is_claim boolean not null,
  reason text,
  reference text,
  finding text,
  seen jsonb not null,
  seen_sha256 text not null,
  row_before jsonb not null,
  expires_at timestamp with time zone,
  link_id bigint,
  answers_known uuid[],
  constraint decisions_check CHECK ((decision = 'resolve') = (finding IS NOT NULL)),
  constraint decisions_check1 CHECK ((decision = 'approve') = (expires_at IS NOT NULL)),
  constraint decisions_check2 CHECK ((decision = ANY (ARRAY['approve', 'replan'])) OR reason IS NOT NULL),
  constraint decisions_check3 CHECK (decision <> 'resolve' OR reference IS NOT NULL),
  constraint decisions_decided_by_check CHECK (btrim(decided_by) <> ''),
  constraint decisions_decision_check CHECK (decision = ANY (ARRAY['approve', 'reject', 'resolve', 'replan'])),
  constraint decisions_finding_check CHECK (finding = ANY (ARRAY['happened', 'not_happened'])),
  constraint decisions_instruction_id_fkey FOREIGN KEY (instruction_id) REFERENCES tieout.instructions(instruction_id),
  constraint decisions_pkey PRIMARY KEY (decision_id),
  constraint decisions_reason_check CHECK (btrim(reason) <> ''),
  constraint decisions_reference_check CHECK (btrim(reference) <> ''),
  constraint decisions_seen_sha256_check CHECK (seen_sha256 ~ '^[0-9a-f]{64}$')
);
CREATE INDEX decisions_by_instruction ON tieout.decisions USING btree (instruction_id);
CREATE INDEX decisions_by_link ON tieout.decisions USING btree (link_id);
CREATE INDEX decisions_happened ON tieout.decisions USING btree (instruction_id, at) WHERE (finding = 'happened');
CREATE INDEX decisions_not_happened ON tieout.decisions USING btree (instruction_id, at) WHERE (finding = 'not_happened');
CREATE TRIGGER guard_decision BEFORE INSERT ON tieout.decisions
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_decision();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.decisions
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.decisions
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE CONSTRAINT TRIGGER seal_decision AFTER INSERT ON tieout.decisions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION tieout.seal_decision('decision_id', 'account_id');

create table tieout.evidence_removals (
  removal_id bigint generated always as identity not null,
  month text not null,
  first_date date not null,
  last_date date not null,
  nights bigint not null,
  looks bigint not null,
  rows jsonb not null,
  bytes bigint not null,
  kept_months integer not null,
  by text not null,
  is_claim boolean not null,
  at timestamp with time zone default clock_timestamp() not null,
  link_id bigint,
  constraint evidence_removals_by_check CHECK (btrim(by) <> ''),
  constraint evidence_removals_check CHECK (last_date >= first_date),
  constraint evidence_removals_kept_months_check CHECK (kept_months > 0),
  constraint evidence_removals_month_key UNIQUE (month),
  constraint evidence_removals_pkey PRIMARY KEY (removal_id)
);
CREATE INDEX evidence_removals_by_link ON tieout.evidence_removals USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.evidence_removals
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.evidence_removals
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.fact_sources (
  what text collate "C" not null,
  is_of_account boolean not null,
  mark text,
  facts text not null,
  constraint fact_sources_pkey PRIMARY KEY (what)
);

create table tieout.feed_checks (
  run_id bigint not null,
  account_id text collate "C" not null,
  business_date date not null,
  currency text not null,
  verdict text not null,
  stated_count bigint,
  stated_amount numeric,
  ledger_count bigint not null,
  ledger_amount numeric not null,
  checked_at timestamp with time zone not null,
  constraint feed_checks_pkey PRIMARY KEY (run_id, account_id, business_date, currency),
  constraint feed_checks_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE,
  constraint feed_checks_verdict_check CHECK (verdict = ANY (ARRAY['equal', 'absent', 'unfinished', 'different', 'unusable']))
);

create table tieout.final_orders (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  fingerprint text not null,
  run_id bigint not null,
  requests text[] collate "C" default '{}'[] not null,
  codes text[] collate "C",
  constraint final_orders_pkey PRIMARY KEY (account_id, order_no)
);

create table tieout.gateway_calls (
  call_id bigint generated always as identity not null,
  account_id text collate "C" not null,
  operation text not null,
  called_by text not null,
  is_claim boolean not null,
  host text not null,
  at timestamp with time zone default clock_timestamp() not null,
  body_sha256 bytea not null,
  entries jsonb not null,
  outcome text,
  reason text,
  http_status integer,
  ended_at timestamp with time zone,
  looks_before bigint,
  permit_id uuid,
  constraint gateway_calls_check CHECK ((outcome IS NULL) = (ended_at IS NULL)),
  constraint gateway_calls_entries_check CHECK (jsonb_typeof(entries) = 'array'),
  constraint gateway_calls_pkey PRIMARY KEY (call_id)
);
CREATE INDEX gateway_calls_by_entry ON tieout.gateway_calls USING gin (entries jsonb_path_ops);
CREATE INDEX gateway_calls_by_look ON tieout.gateway_calls USING btree (looks_before);
CREATE UNIQUE INDEX gateway_calls_by_permit ON tieout.gateway_calls USING btree (permit_id) WHERE (permit_id IS NOT NULL);
CREATE INDEX gateway_calls_by_time ON tieout.gateway_calls USING btree (at);
CREATE INDEX gateway_calls_open ON tieout.gateway_calls USING btree (at) WHERE (outcome IS NULL);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.gateway_calls
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_gateway_call BEFORE DELETE OR UPDATE ON tieout.gateway_calls
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_gateway_call();

create table tieout.gateway_words (
  account_id text collate "C" not null,
  field text not null,
  word text collate "C" not null,
  run_id bigint not null,
  meaning text,
  profile_sha256 text not null,
  entries bigint not null,
  money jsonb not null,
  samples text[] not null,
  seen_at timestamp with time zone not null,
  constraint gateway_words_entries_check CHECK (entries > 0),
  constraint gateway_words_field_check CHECK (field = ANY (ARRAY['payment_status', 'query_result', 'recurring_status', 'capture_status', 'cancel_status', 'review_status', 'refund_message'])),
  constraint gateway_words_pkey PRIMARY KEY (account_id, field, word, run_id),
  constraint gateway_words_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE
);
CREATE INDEX gateway_words_by_run ON tieout.gateway_words USING btree (run_id);

create table tieout.imported_files (
  relation text not null,
  sha256 text not null,
  map_sha256 text default '' not null,
  name text not null,
  lines bigint not null,
  imported_at timestamp with time zone default clock_timestamp() not null,
  constraint imported_files_lines_check CHECK (lines >= 0),
  constraint imported_files_pkey PRIMARY KEY (relation, sha256, map_sha256)
);

create table tieout.installation (
  installation_id uuid default gen_random_uuid() not null,
  made_at timestamp with time zone default clock_timestamp() not null,
  constraint installation_pkey PRIMARY KEY (installation_id)
);
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE OR TRUNCATE ON tieout.installation
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.instruction_events (
  seq bigint generated always as identity not null,
  instruction_id bigint not null,
  from_state text,
  to_state text not null,
  at timestamp with time zone default clock_timestamp() not null,
  by text not null,
  reason text,
  link_id bigint,
  constraint instruction_events_pkey PRIMARY KEY (seq)
);
CREATE INDEX instruction_events_by_instruction ON tieout.instruction_events USING btree (instruction_id);
CREATE INDEX instruction_events_by_link ON tieout.instruction_events USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.instruction_events
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE UPDATE ON tieout.instruction_events
  FOR EACH ROW WHEN (old.link_id IS NOT NULL OR old.seq IS DISTINCT FROM new.seq OR old.instruction_id IS DISTINCT FROM new.instruction_id OR old.from_state IS DISTINCT FROM new.from_state OR old.to_state IS DISTINCT FROM new.to_state OR old.at IS DISTINCT FROM new.at OR old.by IS DISTINCT FROM new.by OR old.reason IS DISTINCT FROM new.reason)
  EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER guard_fact_kept BEFORE DELETE ON tieout.instruction_events
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.instructions (
  instruction_id bigint generated always as identity not null,
  run_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  operation text not null,
  transaction_id text collate "C" not null,
  currency text not null,
  amount numeric(20,2) not null,
  refund_id text collate "C",
  refund_amount numeric(20,2),
  refund_reason text,
  review_decision text,
  from_state text not null,
  done_states text[] not null,
  state text not null,
  hold_reason text,
  batch_id bigint,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  settled_run_id bigint,
  outcome_code text,
  outcome_message text,
  gateway_reference text,
  reason text,
  is_disputed boolean default false not null,
  changed_by text default 'tieout' not null,
  resends integer default 0 not null,
  asked_by text[] default '{}'[] not null,
  approval_id bigint,
  is_refused boolean default false not null,
  replan_id bigint,
  payload jsonb,
  is_in_totals boolean default true not null,
  is_open boolean generated always as (tieout.is_open(state)) stored not null,
  is_void boolean generated always as (tieout.is_void(state)) stored not null,
  freed_by text,
  again_after_look bigint,
  is_part boolean default false not null,
  payout_answer jsonb,
  source_currency text,
  source_amount numeric(20,2),
  refund_reference text,
  doubled text,
  constraint instructions_amount_check CHECK (amount > 0::numeric OR operation = 'payout'),
  constraint instructions_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES tieout.decisions(decision_id),
  constraint instructions_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES tieout.batches(batch_id),
  constraint instructions_check CHECK (refund_amount > 0::numeric AND refund_amount <= amount),
  constraint instructions_check1 CHECK ((operation = 'refund') = (refund_id IS NOT NULL AND refund_amount IS NOT NULL)),
  constraint instructions_check10 CHECK ((operation = 'payout') = (payload IS NOT NULL)),
  constraint instructions_check11 CHECK (is_in_totals OR operation = 'payout'),
  constraint instructions_check12 CHECK (payout_answer IS NULL OR operation = 'payout'),
  constraint instructions_check2 CHECK ((operation = 'review') = (review_decision IS NOT NULL)),
  constraint instructions_check3 CHECK ((state = 'held') = (hold_reason IS NOT NULL)),
  constraint instructions_check4 CHECK ((state <> ALL (ARRAY['queued', 'sending', 'accepted'])) OR batch_id IS NOT NULL),
  constraint instructions_check5 CHECK ((state = ANY (ARRAY['confirmed', 'rejected', 'withdrawn'])) = (settled_at IS NOT NULL)),
  constraint instructions_check6 CHECK (settled_run_id IS NULL OR settled_at IS NOT NULL),
  constraint instructions_check7 CHECK ((state <> ALL (ARRAY['unknown', 'withdrawn'])) OR reason IS NOT NULL),
  constraint instructions_check8 CHECK (NOT is_refused OR state = 'withdrawn'),
  constraint instructions_check9 CHECK (replan_id IS NULL OR (state = ANY (ARRAY['rejected', 'withdrawn']))),
  constraint instructions_done_states_check CHECK (cardinality(done_states) > 0),
  constraint instructions_operation_check CHECK (operation = ANY (ARRAY['capture', 'cancel', 'refund', 'review', 'payout'])),
  constraint instructions_pkey PRIMARY KEY (instruction_id),
  constraint instructions_replan_id_fkey FOREIGN KEY (replan_id) REFERENCES tieout.decisions(decision_id),
  constraint instructions_resends_check CHECK (resends = ANY (ARRAY[0, 1])),
  constraint instructions_review_decision_check CHECK (review_decision = ANY (ARRAY['accept', 'reject'])),
  constraint instructions_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id),
  constraint instructions_settled_run_id_fkey FOREIGN KEY (settled_run_id) REFERENCES tieout.runs(run_id),
  constraint instructions_state_check CHECK (state = ANY (ARRAY['planned', 'held', 'queued', 'sending', 'accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn'])),
  constraint instructions_transaction_id_check CHECK (transaction_id <> '')
) with (fillfactor=50);
CREATE INDEX instructions_by_batch ON tieout.instructions USING btree (batch_id);
CREATE INDEX instructions_by_order ON tieout.instructions USING btree (account_id, order_no);
CREATE INDEX instructions_by_run ON tieout.instructions USING btree (run_id);
CREATE INDEX instructions_by_transaction ON tieout.instructions USING btree (transaction_id) WHERE ((operation <> 'payout') AND (NOT is_void));
CREATE INDEX instructions_freed ON tieout.instructions USING btree (account_id, order_no) WHERE (freed_by IS NOT NULL);
CREATE UNIQUE INDEX instructions_one_effect ON tieout.instructions USING btree (account_id, transaction_id, operation) WHERE ((operation <> 'refund') AND (NOT is_void));
CREATE UNIQUE INDEX instructions_one_refund ON tieout.instructions USING btree (account_id, refund_id) WHERE ((operation = 'refund') AND (NOT is_void));
CREATE UNIQUE INDEX instructions_open_order ON tieout.instructions USING btree (account_id, order_no) WHERE is_open;
CREATE INDEX instructions_part ON tieout.instructions USING btree (account_id, order_no) WHERE is_part;
CREATE INDEX instructions_refused ON tieout.instructions USING btree (transaction_id) WHERE ((operation = ANY (ARRAY['capture', 'cancel'])) AND ((state = 'rejected') OR is_refused));
CREATE INDEX instructions_replanned ON tieout.instructions USING btree (replan_id) WHERE (replan_id IS NOT NULL);
CREATE INDEX instructions_settled ON tieout.instructions USING btree (settled_run_id) WHERE (settled_run_id IS NOT NULL);
CREATE INDEX instructions_settled_between ON tieout.instructions USING btree (account_id) WHERE ((settled_at IS NOT NULL) AND (settled_run_id IS NULL));
CREATE INDEX instructions_void ON tieout.instructions USING btree (instruction_id) WHERE is_void;
CREATE INDEX payouts_by_content ON tieout.instructions USING hash (((payload - 'request_id'))) WHERE (operation = 'payout');
CREATE INDEX payouts_by_payee ON tieout.instructions USING btree (account_id, tieout.payee_key(payload)) WHERE ((operation = 'payout') AND (state = 'confirmed'));
CREATE INDEX payouts_by_request ON tieout.instructions USING btree (transaction_id, account_id) WHERE (operation = 'payout');
CREATE INDEX refunds_by_gateway_reference ON tieout.instructions USING btree (gateway_reference) WHERE ((operation = 'refund') AND (gateway_reference IS NOT NULL));
CREATE INDEX refunds_by_number ON tieout.instructions USING btree (refund_id) WHERE (operation = 'refund');
CREATE INDEX refunds_by_reference ON tieout.instructions USING btree (refund_reference) WHERE (refund_reference IS NOT NULL);
CREATE TRIGGER back_to_unknown BEFORE UPDATE OF state ON tieout.instructions
  FOR EACH ROW WHEN (old.state = 'unknown' OR old.resends > 0)
  EXECUTE FUNCTION tieout.back_to_unknown();
CREATE TRIGGER guard_decided BEFORE UPDATE ON tieout.instructions
  FOR EACH ROW WHEN (old.replan_id IS NOT NULL OR new.replan_id IS NOT NULL OR new.approval_id IS DISTINCT FROM old.approval_id OR new.payload IS DISTINCT FROM old.payload OR old.state = 'held' AND new.state = 'queued' OR new.state = 'sending' AND new.approval_id IS NOT NULL OR (old.state = ANY (ARRAY['accepted', 'unknown'])) AND new.state = 'rejected' OR old.is_refused AND NOT new.is_refused OR old.freed_by IS NOT NULL AND new.freed_by IS NULL)
  EXECUTE FUNCTION tieout.guard_decided();
CREATE TRIGGER guard_history BEFORE DELETE OR TRUNCATE ON tieout.instructions
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_instruction BEFORE UPDATE ON tieout.instructions
  FOR EACH ROW WHEN (old.account_id IS DISTINCT FROM new.account_id OR old.order_no IS DISTINCT FROM new.order_no OR old.operation IS DISTINCT FROM new.operation OR old.transaction_id IS DISTINCT FROM new.transaction_id OR old.currency IS DISTINCT FROM new.currency OR old.amount IS DISTINCT FROM new.amount OR old.refund_id IS DISTINCT FROM new.refund_id OR old.refund_amount IS DISTINCT FROM new.refund_amount OR old.run_id IS DISTINCT FROM new.run_id OR old.created_at IS DISTINCT FROM new.created_at OR old.from_state IS DISTINCT FROM new.from_state OR old.done_states IS DISTINCT FROM new.done_states OR old.review_decision IS DISTINCT FROM new.review_decision OR old.is_in_totals IS DISTINCT FROM new.is_in_totals OR old.is_part IS DISTINCT FROM new.is_part OR old.source_currency IS DISTINCT FROM new.source_currency OR old.source_amount IS DISTINCT FROM new.source_amount)
  EXECUTE FUNCTION tieout.guard_instruction();
CREATE TRIGGER guard_move BEFORE UPDATE ON tieout.instructions
  FOR EACH ROW WHEN (old.state <> new.state AND (((old.state || ' ') || new.state) <> ALL (ARRAY['planned held', 'planned queued', 'planned withdrawn', 'held planned', 'held queued', 'held withdrawn', 'queued planned', 'queued held', 'queued sending', 'queued withdrawn', 'sending queued', 'sending accepted', 'sending rejected', 'sending unknown', 'accepted confirmed', 'accepted unknown', 'accepted rejected', 'rejected unknown', 'planned unknown', 'queued unknown', 'unknown confirmed', 'unknown rejected', 'unknown planned'])))
  EXECUTE FUNCTION tieout.guard_instruction();
CREATE TRIGGER guard_new_instruction BEFORE INSERT ON tieout.instructions
  FOR EACH ROW WHEN (new.state <> ALL (ARRAY['planned', 'held']))
  EXECUTE FUNCTION tieout.guard_instruction();
CREATE TRIGGER guard_payout_answer BEFORE UPDATE ON tieout.instructions
  FOR EACH ROW WHEN (old.payout_answer IS NOT NULL AND new.payout_answer IS DISTINCT FROM old.payout_answer)
  EXECUTE FUNCTION tieout.guard_payout_answer();
CREATE TRIGGER keep_outcomes AFTER UPDATE ON tieout.instructions REFERENCING OLD TABLE AS stood NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.keep_outcomes();
CREATE TRIGGER record_instruction AFTER INSERT ON tieout.instructions REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.record_instruction();
CREATE TRIGGER record_move AFTER UPDATE ON tieout.instructions REFERENCING OLD TABLE AS stood NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.record_instruction();

create table tieout.journals (
  journal_id uuid not null,
  host text not null,
  place text not null,
  opened_at timestamp with time zone default clock_timestamp() not null,
  verified_at timestamp with time zone,
  verified_bytes bigint default 0 not null,
  verified_system text,
  verified_timeline text,
  released_at timestamp with time zone,
  verified_file integer,
  verified_start text,
  marks bigint default 0 not null,
  excused_at timestamp with time zone,
  constraint journals_pkey PRIMARY KEY (journal_id)
);

create table tieout.lapse_warnings (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C" not null,
  lapses_at timestamp with time zone not null,
  warned_at timestamp with time zone not null,
  constraint lapse_warnings_pkey PRIMARY KEY (account_id, order_no, transaction_id, lapses_at)
);
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE OR TRUNCATE ON tieout.lapse_warnings
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.ledger_changes (
  run_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  kind text not null,
  before jsonb not null,
  after jsonb,
  noted_at timestamp with time zone not null,
  constraint ledger_changes_check CHECK ((kind = 'left') = (after IS NULL)),
  constraint ledger_changes_kind_check CHECK (kind = ANY (ARRAY['changed', 'left'])),
  constraint ledger_changes_pkey PRIMARY KEY (account_id, order_no, run_id),
  constraint ledger_changes_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE
);
CREATE INDEX ledger_changes_by_run ON tieout.ledger_changes USING btree (run_id);

create table tieout.look_entries (
  pull_id bigint not null,
  account_id text collate "C" not null,
  page_no integer not null,
  "position" integer not null,
  order_no text collate "C" not null,
  is_extra boolean not null,
  is_asked boolean not null,
  transaction_id text collate "C",
  currency text,
  amount numeric(20,2),
  amount_text text,
  state text,
  payment_status text,
  found boolean not null,
  query_result text,
  transaction_at timestamp with time zone,
  transaction_date text,
  reference_no text,
  fraud_rejected boolean not null,
  recurring_status text
) partition by RANGE (pull_id);
CREATE INDEX look_entries_authorised ON ONLY tieout.look_entries USING btree (pull_id, account_id, transaction_at) WHERE (state = 'authorised');
CREATE INDEX look_entries_extra ON ONLY tieout.look_entries USING btree (pull_id, account_id, order_no) WHERE is_extra;
CREATE INDEX look_entries_fraud ON ONLY tieout.look_entries USING btree (pull_id, account_id, order_no) WHERE fraud_rejected;
CREATE UNIQUE INDEX look_entries_plain ON ONLY tieout.look_entries USING btree (pull_id, account_id, order_no) WHERE (NOT is_extra);
CREATE INDEX look_entries_unasked ON ONLY tieout.look_entries USING btree (pull_id, account_id, order_no) WHERE (NOT is_asked);
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.look_entries
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.look_entries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.look_entries_before partition of tieout.look_entries FOR VALUES FROM (MINVALUE) TO ('10000100000000');
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.look_entries_before
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.look_entries_before REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.look_hints (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  hinted_at timestamp with time zone not null,
  constraint look_hints_pkey PRIMARY KEY (account_id, order_no)
);
CREATE INDEX look_hints_by_time ON tieout.look_hints USING btree (hinted_at);

create table tieout.look_links (
  pull_id bigint not null,
  account_id text collate "C" not null,
  link_id bigint not null,
  constraint look_links_pkey PRIMARY KEY (pull_id, account_id)
);
CREATE INDEX look_links_by_link ON tieout.look_links USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.look_links
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.look_links
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.lost_permits (
  attempt_id uuid not null,
  entry integer not null,
  account_id text collate "C" not null,
  operation text not null,
  order_no text collate "C",
  transaction_id text collate "C",
  refund_id text collate "C",
  currency text not null,
  amount text not null,
  sent_at timestamp with time zone not null,
  host text not null,
  found_at timestamp with time zone default clock_timestamp() not null,
  constraint lost_permits_pkey PRIMARY KEY (attempt_id, entry)
);
CREATE INDEX lost_permits_by_order ON tieout.lost_permits USING btree (account_id, order_no);
CREATE INDEX lost_permits_by_transaction ON tieout.lost_permits USING btree (transaction_id);
CREATE INDEX lost_permits_of_payouts ON tieout.lost_permits USING btree (tieout.amount_in(amount)) WHERE (operation = 'payout');
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE OR TRUNCATE ON tieout.lost_permits
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.movement_amounts (
  amount_id bigint generated always as identity not null,
  movement_id bigint not null,
  amount numeric(20,2),
  known_by text not null,
  business_date date not null,
  run_id bigint,
  change numeric(20,2) not null,
  suspense integer not null,
  link_id bigint,
  constraint movement_amounts_amount_check CHECK (amount >= 0::numeric),
  constraint movement_amounts_known_by_check CHECK (known_by = ANY (ARRAY['look', 'request', 'settlement', 'person'])),
  constraint movement_amounts_movement_id_fkey FOREIGN KEY (movement_id) REFERENCES tieout.movements(movement_id),
  constraint movement_amounts_pkey PRIMARY KEY (amount_id),
  constraint movement_amounts_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id),
  constraint movement_amounts_suspense_check CHECK (suspense >= '-1'::integer AND suspense <= 1)
);
CREATE INDEX movement_amounts_by_link ON tieout.movement_amounts USING btree (link_id);
CREATE INDEX movement_amounts_by_movement ON tieout.movement_amounts USING btree (movement_id, amount_id);
CREATE INDEX movement_amounts_by_run ON tieout.movement_amounts USING btree (run_id);
CREATE TRIGGER guard_amounts AFTER INSERT ON tieout.movement_amounts REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_amounts();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.movement_amounts
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.movement_amounts
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER weigh_amount BEFORE INSERT ON tieout.movement_amounts
  FOR EACH ROW EXECUTE FUNCTION tieout.weigh_movement_amount();

create table tieout.movement_books (
  account_id text collate "C" not null,
  begins date not null,
  history_before date not null,
  run_id bigint not null,
  link_id bigint,
  constraint movement_books_pkey PRIMARY KEY (account_id),
  constraint movement_books_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id)
);
CREATE INDEX movement_books_by_link ON tieout.movement_books USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.movement_books
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.movement_books
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.movements (
  movement_id bigint generated always as identity not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C" not null,
  kind text not null,
  currency text not null,
  amount numeric(20,2),
  made text not null,
  instruction_id bigint,
  reference text,
  business_date date not null,
  run_id bigint not null,
  is_history boolean not null,
  day_movement_id bigint,
  link_id bigint,
  constraint movements_amount_check CHECK (amount > 0::numeric),
  constraint movements_check CHECK ((made = 'here') = (instruction_id IS NOT NULL)),
  constraint movements_check1 CHECK ((made = 'here') = (day_movement_id IS NOT NULL)),
  constraint movements_check2 CHECK (made = 'elsewhere' OR amount IS NOT NULL),
  constraint movements_check3 CHECK (kind = 'refunded' OR amount IS NOT NULL),
  constraint movements_day_movement_id_fkey FOREIGN KEY (day_movement_id) REFERENCES tieout.day_movements(movement_id),
  constraint movements_instruction_id_fkey FOREIGN KEY (instruction_id) REFERENCES tieout.instructions(instruction_id),
  constraint movements_kind_check CHECK (kind = ANY (ARRAY['captured', 'refunded'])),
  constraint movements_made_check CHECK (made = ANY (ARRAY['here', 'elsewhere'])),
  constraint movements_pkey PRIMARY KEY (movement_id),
  constraint movements_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id)
);
CREATE INDEX movements_by_date ON tieout.movements USING btree (account_id, business_date);
CREATE INDEX movements_by_day_movement ON tieout.movements USING btree (account_id, day_movement_id) WHERE (day_movement_id IS NOT NULL);
CREATE INDEX movements_by_link ON tieout.movements USING btree (link_id);
CREATE INDEX movements_by_order ON tieout.movements USING btree (account_id, order_no);
CREATE INDEX movements_by_reference ON tieout.movements USING btree (account_id, reference COLLATE "C") WHERE (reference IS NOT NULL);
CREATE INDEX movements_by_run ON tieout.movements USING btree (run_id);
CREATE INDEX movements_by_transaction ON tieout.movements USING btree (account_id, transaction_id);
CREATE UNIQUE INDEX movements_one_capture ON tieout.movements USING btree (account_id, transaction_id, currency, made) WHERE (kind = 'captured');
CREATE UNIQUE INDEX movements_one_instruction ON tieout.movements USING btree (instruction_id);
CREATE TRIGGER await_settlement AFTER INSERT ON tieout.movements REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.await_settlement();
CREATE TRIGGER guard_booked AFTER INSERT ON tieout.movements REFERENCING NEW TABLE AS booked
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_booked();
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.movements
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE UPDATE ON tieout.movements
  FOR EACH ROW WHEN (old.link_id IS NOT NULL OR old.movement_id IS DISTINCT FROM new.movement_id OR old.account_id IS DISTINCT FROM new.account_id OR old.order_no IS DISTINCT FROM new.order_no OR old.transaction_id IS DISTINCT FROM new.transaction_id OR old.kind IS DISTINCT FROM new.kind OR old.currency IS DISTINCT FROM new.currency OR old.amount IS DISTINCT FROM new.amount OR old.made IS DISTINCT FROM new.made OR old.instruction_id IS DISTINCT FROM new.instruction_id OR old.reference IS DISTINCT FROM new.reference OR old.business_date IS DISTINCT FROM new.business_date OR old.run_id IS DISTINCT FROM new.run_id OR old.is_history IS DISTINCT FROM new.is_history OR old.day_movement_id IS DISTINCT FROM new.day_movement_id)
  EXECUTE FUNCTION tieout.guard_fact();
CREATE TRIGGER guard_fact_kept BEFORE DELETE ON tieout.movements
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.notifications (
  notification_id bigint generated always as identity not null,
  received_at timestamp with time zone not null,
  content_type text,
  body bytea not null,
  body_sha256 text not null,
  hints integer not null,
  constraint notifications_pkey PRIMARY KEY (notification_id)
);
CREATE INDEX notifications_by_time ON tieout.notifications USING btree (received_at);

create table tieout.outbox (
  message_id uuid default gen_random_uuid() not null,
  seq bigint generated always as identity not null,
  channel text not null,
  event text not null,
  subject text collate "C" not null,
  fingerprint text not null,
  about bigint[] default '{}'::bigint[] not null,
  body jsonb not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  state text default 'waiting' not null,
  tries integer default 0 not null,
  next_try_at timestamp with time zone default clock_timestamp() not null,
  problem text,
  ended_at timestamp with time zone,
  constraint outbox_channel_check CHECK (channel = ANY (ARRAY['webhook', 'switch'])),
  constraint outbox_check CHECK ((state = 'waiting') = (ended_at IS NULL)),
  constraint outbox_event_check CHECK (event = ANY (ARRAY['night_finished', 'night_did_not_start', 'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late', 'heads_not_signed', 'reservations_lapse', 'security', 'heads_signed', 'sending_frozen'])),
  constraint outbox_pkey PRIMARY KEY (message_id),
  constraint outbox_state_check CHECK (state = ANY (ARRAY['waiting', 'delivered', 'failed']))
);
CREATE INDEX outbox_by_subject ON tieout.outbox USING btree (event, subject, seq);
CREATE INDEX outbox_waiting ON tieout.outbox USING btree (next_try_at) WHERE (state = 'waiting');

create table tieout.outcome_rows (
  outcome_id bigint generated always as identity not null,
  seq bigint,
  instruction_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C",
  refund_id text collate "C",
  operation text not null,
  amount numeric(20,2),
  currency text,
  state text not null,
  gateway_reference text,
  at timestamp with time zone not null,
  constraint outcome_rows_pkey PRIMARY KEY (outcome_id),
  constraint outcome_rows_seq_check CHECK (seq > 0),
  constraint outcome_rows_seq_key UNIQUE (seq),
  constraint outcome_rows_state_check CHECK (state = ANY (ARRAY['accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn']))
);
CREATE INDEX outcome_rows_unpublished ON tieout.outcome_rows USING btree (outcome_id) WHERE (seq IS NULL);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.outcome_rows
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_outcome BEFORE UPDATE ON tieout.outcome_rows
  FOR EACH ROW WHEN (old.seq IS NOT NULL OR old.outcome_id IS DISTINCT FROM new.outcome_id OR old.instruction_id IS DISTINCT FROM new.instruction_id OR old.account_id IS DISTINCT FROM new.account_id OR old.order_no IS DISTINCT FROM new.order_no OR old.refund_id IS DISTINCT FROM new.refund_id OR old.operation IS DISTINCT FROM new.operation OR old.amount IS DISTINCT FROM new.amount OR old.currency IS DISTINCT FROM new.currency OR old.state IS DISTINCT FROM new.state OR old.gateway_reference IS DISTINCT FROM new.gateway_reference OR old.at IS DISTINCT FROM new.at)
  EXECUTE FUNCTION tieout.guard_outcome();
CREATE TRIGGER guard_outcome_kept BEFORE DELETE ON tieout.outcome_rows
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_outcome();

create table tieout.pages (
  pull_id bigint not null,
  account_id text collate "C" not null,
  page_no integer not null,
  stands_for_walk boolean default false not null,
  state text not null,
  orders integer not null,
  entries integer,
  unasked integer,
  attempts integer not null,
  reason text,
  answered_at timestamp with time zone,
  body_gzip bytea,
  body_sha256 bytea,
  constraint pages_check CHECK ((state = 'answered') = (answered_at IS NOT NULL AND entries IS NOT NULL)),
  constraint pages_check1 CHECK ((state = 'failed') = (reason IS NOT NULL)),
  constraint pages_pkey PRIMARY KEY (pull_id, account_id, page_no),
  constraint pages_state_check CHECK (state = ANY (ARRAY['answered', 'failed']))
) partition by RANGE (pull_id);
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.pages
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.pages REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();
CREATE TRIGGER guard_look_new AFTER INSERT ON tieout.pages REFERENCING NEW TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.pages_before partition of tieout.pages FOR VALUES FROM (MINVALUE) TO ('10000100000000');
CREATE TRIGGER guard_history BEFORE UPDATE OR TRUNCATE ON tieout.pages_before
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_look AFTER DELETE ON tieout.pages_before REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();
CREATE TRIGGER guard_look_new AFTER INSERT ON tieout.pages_before REFERENCING NEW TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_look();

create table tieout.payout_hints (
  instruction_id bigint not null,
  hinted_at timestamp with time zone not null,
  constraint payout_hints_instruction_id_fkey FOREIGN KEY (instruction_id) REFERENCES tieout.instructions(instruction_id),
  constraint payout_hints_pkey PRIMARY KEY (instruction_id)
);

create table tieout.payouts_before (
  account_id text collate "C" not null,
  request_id text collate "C" not null,
  run_id bigint not null,
  came_later boolean not null,
  constraint payouts_before_pkey PRIMARY KEY (account_id, request_id)
);
CREATE INDEX payouts_before_later ON tieout.payouts_before USING btree (account_id) WHERE came_later;

create table tieout.payouts_left (
  account_id text collate "C" not null,
  request_id text collate "C" not null,
  left_at timestamp with time zone not null,
  constraint payouts_left_pkey PRIMARY KEY (account_id, request_id)
);

create table tieout.profiles (
  profile_sha256 text not null,
  profile text not null,
  link_id bigint,
  constraint profiles_pkey PRIMARY KEY (profile_sha256)
);
CREATE INDEX profiles_by_link ON tieout.profiles USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.profiles
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.profiles
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.pulls (
  pull_id bigint generated always as identity not null,
  run_id bigint not null,
  kind text not null,
  as_of timestamp with time zone not null,
  finished_at timestamp with time zone,
  matched jsonb,
  is_sealed boolean default false not null,
  profile_sha256 text,
  constraint pulls_kind_check CHECK (kind = ANY (ARRAY['night', 'confirm', 'fresh'])),
  constraint pulls_pkey PRIMARY KEY (pull_id),
  constraint pulls_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE
);
CREATE INDEX pulls_by_run ON tieout.pulls USING btree (run_id);
CREATE INDEX pulls_to_seal ON tieout.pulls USING btree (pull_id) WHERE (NOT is_sealed);
CREATE TRIGGER number_look BEFORE INSERT ON tieout.pulls
  FOR EACH ROW EXECUTE FUNCTION tieout.number_look();

create unlogged table tieout.rate_buckets (
  merchant_id text not null,
  free_at timestamp with time zone not null,
  taken_at timestamp with time zone,
  constraint rate_buckets_pkey PRIMARY KEY (merchant_id)
);

create table tieout.redacted_links (
  redaction_id bigint not null,
  link_id bigint not null,
  account_id text collate "C" not null,
  what text not null,
  facts bigint not null,
  sealed_sha256 text not null,
  after_sha256 text not null,
  constraint redacted_links_pkey PRIMARY KEY (redaction_id, link_id, account_id, what),
  constraint redacted_links_redaction_id_fkey FOREIGN KEY (redaction_id) REFERENCES tieout.redactions(redaction_id)
);
CREATE INDEX redacted_links_by_link ON tieout.redacted_links USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.redacted_links
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.redacted_links
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.redacted_texts (
  redaction_id bigint not null,
  relation text not null,
  key jsonb not null,
  field text not null,
  signs integer not null,
  constraint redacted_texts_pkey PRIMARY KEY (redaction_id, relation, key, field),
  constraint redacted_texts_redaction_id_fkey FOREIGN KEY (redaction_id) REFERENCES tieout.redactions(redaction_id),
  constraint redacted_texts_signs_check CHECK (signs > 0)
);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.redacted_texts
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.redacted_texts
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.redactions (
  redaction_id bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  by text not null,
  is_claim boolean not null,
  reason text not null,
  link_id bigint,
  constraint redactions_by_check CHECK (btrim(by) <> ''),
  constraint redactions_pkey PRIMARY KEY (redaction_id),
  constraint redactions_reason_check CHECK (btrim(reason) <> '')
);
CREATE INDEX redactions_by_link ON tieout.redactions USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.redactions
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.redactions
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.refund_evidence (
  evidence_id bigint generated always as identity not null,
  instruction_id bigint not null,
  run_id bigint not null,
  at timestamp with time zone default clock_timestamp() not null,
  outcome text not null,
  reason text,
  http_status integer,
  body bytea,
  constraint refund_evidence_instruction_id_fkey FOREIGN KEY (instruction_id) REFERENCES tieout.instructions(instruction_id) ON DELETE CASCADE,
  constraint refund_evidence_instruction_id_run_id_key UNIQUE (instruction_id, run_id),
  constraint refund_evidence_outcome_check CHECK (outcome = ANY (ARRAY['answered', 'not_sent', 'unknown'])),
  constraint refund_evidence_pkey PRIMARY KEY (evidence_id)
);

create table tieout.removed_looks (
  pull_id bigint not null,
  account_id text collate "C" not null,
  removal_id bigint not null,
  link_id bigint not null,
  facts bigint not null,
  facts_sha256 text not null,
  constraint removed_looks_pkey PRIMARY KEY (pull_id, account_id),
  constraint removed_looks_removal_id_fkey FOREIGN KEY (removal_id) REFERENCES tieout.evidence_removals(removal_id)
);
CREATE INDEX removed_looks_by_link ON tieout.removed_looks USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.removed_looks
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.removed_looks
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.report_removals (
  report_id bigint not null,
  removed_at timestamp with time zone not null,
  finding text not null,
  constraint report_removals_finding_check CHECK (finding = ANY (ARRAY['deleted', 'was_gone', 'not_ours'])),
  constraint report_removals_pkey PRIMARY KEY (report_id),
  constraint report_removals_report_id_fkey FOREIGN KEY (report_id) REFERENCES tieout.reports(report_id)
);

create table tieout.reports (
  report_id bigint generated always as identity not null,
  run_id bigint not null,
  kind text not null,
  format text not null,
  revision integer not null,
  state text not null,
  created_at timestamp with time zone not null,
  written_at timestamp with time zone,
  path text,
  sha256 text,
  bytes bigint,
  reason text,
  link_id bigint,
  period text,
  digests jsonb,
  host text,
  constraint reports_check CHECK ((state = 'written') = (path IS NOT NULL AND sha256 IS NOT NULL AND written_at IS NOT NULL)),
  constraint reports_check1 CHECK (state <> 'failed' OR reason IS NOT NULL),
  constraint reports_format_check CHECK (format = ANY (ARRAY['xlsx', 'csv', 'ndjson'])),
  constraint reports_kind_check CHECK (kind = ANY (ARRAY['reconciliation', 'orders', 'activity', 'ageing', 'settlement'])),
  constraint reports_period_check CHECK (period ~ '^\d{4}-\d\d(-\d\d)?$'),
  constraint reports_pkey PRIMARY KEY (report_id),
  constraint reports_revision_check CHECK (revision > 0),
  constraint reports_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id),
  constraint reports_state_check CHECK (state = ANY (ARRAY['queued', 'written', 'failed']))
);
CREATE INDEX reports_by_link ON tieout.reports USING btree (link_id);
CREATE UNIQUE INDEX reports_of_period_once ON tieout.reports USING btree (period, kind, format, revision) WHERE ((period IS NOT NULL) AND (report_id > 0));
CREATE UNIQUE INDEX reports_of_run_once ON tieout.reports USING btree (run_id, kind, format, revision) WHERE (period IS NULL);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.reports
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.reports
  FOR EACH ROW WHEN (old.link_id IS NOT NULL)
  EXECUTE FUNCTION tieout.guard_fact();

create table tieout.run_accounts (
  run_id bigint not null,
  account_id text collate "C" not null,
  business_date date not null,
  merchant_id text,
  send_block text,
  state text not null,
  open_before jsonb default '{}'::jsonb not null,
  events_after bigint default 0 not null,
  open_after jsonb,
  stake_before jsonb default '{}'::jsonb not null,
  stake_after jsonb,
  events_until bigint,
  carried jsonb default '{}'::jsonb not null,
  pull_id bigint,
  as_of timestamp with time zone,
  sending text default 'untried' not null,
  canary_batch_id bigint,
  unclean_batches integer default 0 not null,
  sending_reason text,
  weighed_by bigint,
  acted_from timestamp with time zone,
  planned_by bigint,
  constraint run_accounts_canary_batch_id_fkey FOREIGN KEY (canary_batch_id) REFERENCES tieout.batches(batch_id),
  constraint run_accounts_check CHECK ((sending = 'canary') = (canary_batch_id IS NOT NULL)),
  constraint run_accounts_check1 CHECK ((sending = 'stopped') = (sending_reason IS NOT NULL)),
  constraint run_accounts_pkey PRIMARY KEY (run_id, account_id),
  constraint run_accounts_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE,
  constraint run_accounts_send_block_check CHECK (send_block = ANY (ARRAY['observed', 'no_history'])),
  constraint run_accounts_sending_check CHECK (sending = ANY (ARRAY['untried', 'canary', 'open', 'stopped'])),
  constraint run_accounts_state_check CHECK (state = ANY (ARRAY['running', 'tied_out', 'broken', 'incomplete', 'failed']))
);
CREATE INDEX run_accounts_newest ON tieout.run_accounts USING btree (account_id, business_date);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.run_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_sending BEFORE UPDATE OF sending ON tieout.run_accounts
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_sending();

create table tieout.run_ends (
  end_id bigint generated always as identity not null,
  run_id bigint not null,
  at timestamp with time zone default clock_timestamp() not null,
  state text not null,
  failure text,
  summary jsonb,
  link_id bigint,
  constraint run_ends_pkey PRIMARY KEY (end_id)
);
CREATE INDEX run_ends_by_link ON tieout.run_ends USING btree (link_id);
CREATE INDEX run_ends_by_run ON tieout.run_ends USING btree (run_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.run_ends
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.run_ends
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.run_holders (
  run_id bigint not null,
  holder uuid not null,
  is_dry boolean not null,
  constraint run_holders_pkey PRIMARY KEY (run_id),
  constraint run_holders_run_id_fkey FOREIGN KEY (run_id) REFERENCES tieout.runs(run_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX run_holders_one_date ON tieout.run_holders USING btree (is_dry) WHERE (NOT is_dry);

create table tieout.run_settings (
  settings_id bigint generated always as identity not null,
  run_id bigint not null,
  at timestamp with time zone default clock_timestamp() not null,
  settings jsonb not null,
  settings_sha256 text not null,
  version text not null,
  link_id bigint,
  constraint run_settings_pkey PRIMARY KEY (settings_id)
);
CREATE INDEX run_settings_by_link ON tieout.run_settings USING btree (link_id);
CREATE INDEX run_settings_by_run ON tieout.run_settings USING btree (run_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.run_settings
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.run_settings
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.runs (
  run_id bigint generated always as identity not null,
  business_date date not null,
  is_dry boolean default false not null,
  covers date[] not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  state text not null,
  environment text not null,
  settings jsonb not null,
  settings_sha256 text not null,
  version text not null,
  runner_id uuid,
  runner_host text,
  runner_boot text,
  runner_pid integer,
  runner_started text,
  heartbeat_at timestamp with time zone,
  created_at timestamp with time zone not null,
  as_of timestamp with time zone,
  finished_at timestamp with time zone,
  failure text,
  summary jsonb,
  waits_for_gateway boolean default false not null,
  runner_accounts text[],
  again_asked_at timestamp with time zone,
  again_asked_by text,
  constraint runs_again_asked CHECK ((again_asked_at IS NULL) = (again_asked_by IS NULL)),
  constraint runs_check CHECK (ends_at > starts_at),
  constraint runs_check1 CHECK ((state = 'running') = (runner_id IS NOT NULL)),
  constraint runs_check2 CHECK ((state = ANY (ARRAY['running', 'failed'])) OR finished_at IS NOT NULL AND summary IS NOT NULL),
  constraint runs_covers_check CHECK (cardinality(covers) > 0),
  constraint runs_pkey PRIMARY KEY (run_id),
  constraint runs_state_check CHECK (state = ANY (ARRAY['running', 'tied_out', 'broken', 'incomplete', 'failed']))
);
CREATE UNIQUE INDEX runs_by_date ON tieout.runs USING btree (business_date) WHERE (NOT is_dry);
CREATE TRIGGER keep_holder AFTER INSERT OR UPDATE OF runner_id ON tieout.runs
  FOR EACH ROW EXECUTE FUNCTION tieout.keep_holder();
CREATE TRIGGER keep_run AFTER INSERT OR UPDATE OF state, runner_id ON tieout.runs
  FOR EACH ROW EXECUTE FUNCTION tieout.keep_run();
CREATE TRIGGER number_run BEFORE INSERT ON tieout.runs
  FOR EACH ROW EXECUTE FUNCTION tieout.number_run();

create table tieout.sessions (
  session_sha256 bytea not null,
  user_id bigint not null,
  created_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  confirmed_at timestamp with time zone not null,
  address text not null,
  draft jsonb,
  constraint sessions_pkey PRIMARY KEY (session_sha256),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES tieout.users(user_id)
);
CREATE INDEX sessions_by_user ON tieout.sessions USING btree (user_id);

create table tieout.settlement_awaited (
  movement_id bigint not null,
  constraint settlement_awaited_pkey PRIMARY KEY (movement_id)
);

create table tieout.settlement_batches (
  account_id text collate "C" not null,
  batch text collate "C" not null,
  currency text collate "C" not null,
  file_id bigint not null,
  lines bigint not null,
  gross numeric not null,
  fees numeric not null,
  payout numeric not null,
  has_payout boolean not null,
  first_booked_at timestamp with time zone not null,
  last_booked_at timestamp with time zone not null,
  digest text not null,
  link_id bigint,
  constraint settlement_batches_file_id_fkey FOREIGN KEY (file_id) REFERENCES tieout.settlement_files(file_id),
  constraint settlement_batches_lines_check CHECK (lines > 0),
  constraint settlement_batches_pkey PRIMARY KEY (account_id, batch, currency)
);
CREATE INDEX settlement_batches_by_link ON tieout.settlement_batches USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.settlement_batches
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.settlement_batches
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.settlement_files (
  file_id bigint generated always as identity not null,
  name text not null,
  sha256 text not null,
  map_sha256 text not null,
  accounts text[] collate "C" not null,
  batches bigint not null,
  lines bigint not null,
  totals jsonb not null,
  imported_at timestamp with time zone default clock_timestamp() not null,
  link_id bigint,
  constraint settlement_files_batches_check CHECK (batches > 0),
  constraint settlement_files_lines_check CHECK (lines > 0),
  constraint settlement_files_pkey PRIMARY KEY (file_id)
);
CREATE INDEX settlement_files_by_link ON tieout.settlement_files USING btree (link_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.settlement_files
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.settlement_files
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.settlement_lines (
  settlement_line_id bigint generated always as identity not null,
  account_id text collate "C" not null,
  batch text collate "C" not null,
  line_id text collate "C" not null,
  line_no bigint not null,
  type text not null,
  booked_at timestamp with time zone not null,
  order_no text collate "C",
  transaction_id text collate "C",
  reference text collate "C",
  currency text collate "C" not null,
  amount numeric(20,2) not null,
  settle_currency text collate "C" not null,
  gross numeric(20,2) not null,
  fee numeric(20,2) not null,
  net numeric(20,2) not null,
  constraint settlement_lines_check CHECK (net = (gross - fee)),
  constraint settlement_lines_pkey PRIMARY KEY (settlement_line_id),
  constraint settlement_lines_type_check CHECK (type = ANY (ARRAY['captured', 'refunded', 'chargeback', 'chargeback_reversed', 'fee', 'reserve', 'carried', 'adjustment', 'payout']))
);
CREATE INDEX settlement_lines_by_batch ON tieout.settlement_lines USING btree (account_id, batch);
CREATE INDEX settlement_lines_by_order ON tieout.settlement_lines USING btree (order_no, account_id) WHERE ((order_no IS NOT NULL) AND ((transaction_id IS NULL) OR (type <> 'captured')));
CREATE INDEX settlement_lines_by_transaction ON tieout.settlement_lines USING btree (transaction_id, account_id) WHERE (transaction_id IS NOT NULL);
CREATE INDEX settlement_lines_charging_back ON tieout.settlement_lines USING btree (settlement_line_id) WHERE (type = ANY (ARRAY['chargeback', 'chargeback_reversed']));
CREATE INDEX settlement_lines_without_transaction ON tieout.settlement_lines USING btree (settlement_line_id) WHERE (transaction_id IS NULL);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.settlement_lines
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_settlement BEFORE DELETE OR UPDATE ON tieout.settlement_lines
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_settlement();

create table tieout.settlement_looks (
  account_id text collate "C" not null,
  settlement_line_id bigint not null,
  constraint settlement_looks_pkey PRIMARY KEY (account_id)
);

create table tieout.settlement_matches (
  settlement_line_id bigint not null,
  movement_id bigint not null,
  by text not null,
  differs boolean not null,
  matched_at timestamp with time zone default clock_timestamp() not null,
  constraint settlement_matches_by_check CHECK (by = ANY (ARRAY['reference', 'transaction', 'order'])),
  constraint settlement_matches_pkey PRIMARY KEY (settlement_line_id)
);
CREATE INDEX settlement_matches_differing ON tieout.settlement_matches USING btree (movement_id) WHERE differs;
CREATE INDEX settlement_matches_without_transaction ON tieout.settlement_matches USING btree (movement_id) WHERE (by <> 'transaction');
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.settlement_matches
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_settlement BEFORE DELETE OR UPDATE ON tieout.settlement_matches
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_settlement();

create table tieout.settlement_unmatched (
  settlement_line_id bigint not null,
  order_no text collate "C",
  told_of bigint,
  constraint settlement_unmatched_pkey PRIMARY KEY (settlement_line_id)
);
CREATE INDEX settlement_unmatched_by_order ON tieout.settlement_unmatched USING btree (order_no) WHERE (order_no IS NOT NULL);
CREATE INDEX settlement_unmatched_told ON tieout.settlement_unmatched USING btree (told_of) WHERE (told_of IS NOT NULL);

create table tieout.sign_in_failures (
  failure_id bigint generated always as identity not null,
  at timestamp with time zone not null,
  name_key text not null,
  address text not null,
  session_sha256 bytea,
  constraint sign_in_failures_pkey PRIMARY KEY (failure_id)
);
CREATE INDEX sign_in_failures_by_address ON tieout.sign_in_failures USING btree (address, at);
CREATE INDEX sign_in_failures_by_name ON tieout.sign_in_failures USING btree (name_key, at);
CREATE INDEX sign_in_failures_by_session ON tieout.sign_in_failures USING btree (session_sha256, at) WHERE (session_sha256 IS NOT NULL);

create table tieout.sign_in_links (
  link_sha256 bytea not null,
  user_id bigint,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint sign_in_links_pkey PRIMARY KEY (link_sha256),
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES tieout.users(user_id)
);

create table tieout.signatures (
  signature_id bigint generated always as identity not null,
  what text not null,
  fact_id bigint not null,
  session text not null,
  signature bytea not null,
  constraint signatures_pkey PRIMARY KEY (signature_id),
  constraint signatures_session_check CHECK (btrim(session) <> ''),
  constraint signatures_signature_check CHECK (octet_length(signature) = 64),
  constraint signatures_what_check CHECK (what = ANY (ARRAY['decision', 'break', 'day', 'brake', 'redaction']))
);
CREATE INDEX signatures_by_fact ON tieout.signatures USING btree (what, fact_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.signatures
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE ON tieout.signatures
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_history();

create table tieout.statements (
  report_id bigint not null,
  account_id text collate "C" not null,
  currency text not null,
  ledger_captured numeric not null,
  ledger_refunded numeric not null,
  gateway_captured numeric not null,
  gateway_refunded numeric not null,
  items jsonb not null,
  unexplained_captured numeric not null,
  unexplained_refunded numeric not null,
  books jsonb,
  constraint statements_pkey PRIMARY KEY (report_id, account_id, currency),
  constraint statements_report_id_fkey FOREIGN KEY (report_id) REFERENCES tieout.reports(report_id) ON DELETE CASCADE
);

create table tieout.user_roles (
  user_id bigint not null,
  role text not null,
  account_id text collate "C",
  constraint user_roles_role_check CHECK (role = ANY (ARRAY['viewer', 'finance', 'operator', 'approver', 'admin'])),
  constraint user_roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES tieout.users(user_id)
);
CREATE UNIQUE INDEX user_roles_once ON tieout.user_roles USING btree (user_id, role, COALESCE(account_id, ''));

create table tieout.users (
  user_id bigint generated always as identity not null,
  name text not null,
  name_key text generated always as (lower(name)) stored not null,
  password_hash text,
  state text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint users_name_key_key UNIQUE (name_key),
  constraint users_pkey PRIMARY KEY (user_id),
  constraint users_state_check CHECK (state = ANY (ARRAY['active', 'disabled']))
);

create table tieout.verdicts (
  run_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  pull_id bigint not null,
  in_ledger boolean not null,
  not_compared text,
  kinds text[] not null,
  need text,
  awaited boolean not null,
  tolerated boolean not null,
  transaction_id text collate "C",
  gateway_state text,
  gateway_currency text,
  gateway_amount numeric(20,2),
  gateway_amount_text text,
  payment_status text,
  ledger_problem text,
  expected text,
  ledger_currency text,
  ledger_amount numeric(20,2),
  need_amount numeric(20,2),
  refund_id text collate "C",
  refund_amount numeric(20,2),
  completes boolean,
  review_decision text,
  class text,
  requests text,
  taken numeric(20,2),
  to_take numeric(20,2),
  constraint verdicts_check CHECK (need IS NULL OR transaction_id IS NOT NULL AND need_amount IS NOT NULL),
  constraint verdicts_check1 CHECK (not_compared IS NULL OR cardinality(kinds) = 0 AND need IS NULL),
  constraint verdicts_class_check CHECK (class = ANY (ARRAY['notCompared', 'broken', 'due', 'awaited', 'explained', 'matched'])),
  constraint verdicts_need_check CHECK (need = ANY (ARRAY['capture', 'cancel', 'refund', 'review'])),
  constraint verdicts_not_compared_check CHECK (not_compared = ANY (ARRAY['no_look', 'contradictory', 'query_result', 'separator'])),
  constraint verdicts_pkey PRIMARY KEY (run_id, account_id, order_no)
) partition by RANGE (run_id);

create table tieout.verdicts_before partition of tieout.verdicts FOR VALUES FROM (MINVALUE) TO ('10000100000000');

create table tieout.workbook_key (
  is_one boolean default true not null,
  secret text not null,
  constraint workbook_key_is_one_check CHECK (is_one),
  constraint workbook_key_pkey PRIMARY KEY (is_one),
  constraint workbook_key_secret_check CHECK (secret ~ '^[0-9a-f]{64}$')
);
CREATE TRIGGER guard_history BEFORE DELETE OR UPDATE OR TRUNCATE ON tieout.workbook_key
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();

create table tieout.workings (
  working_id bigint generated always as identity not null,
  run_id bigint not null,
  kind text not null,
  settings_id bigint not null,
  account_ids text[] not null,
  pull_id bigint,
  failed_in bigint,
  at timestamp with time zone default clock_timestamp() not null,
  last_instruction_event bigint not null,
  last_break_event bigint not null,
  link_id bigint,
  constraint workings_check CHECK ((kind = 'total') = (pull_id IS NULL)),
  constraint workings_check1 CHECK ((kind = 'gaps') = (failed_in IS NOT NULL)),
  constraint workings_kind_check CHECK (kind = ANY (ARRAY['night', 'again', 'gaps', 'total'])),
  constraint workings_pkey PRIMARY KEY (working_id),
  constraint workings_settings_id_fkey FOREIGN KEY (settings_id) REFERENCES tieout.run_settings(settings_id)
);
CREATE INDEX workings_by_link ON tieout.workings USING btree (link_id);
CREATE INDEX workings_by_run ON tieout.workings USING btree (run_id);
CREATE TRIGGER guard_emptied BEFORE TRUNCATE ON tieout.workings
  FOR EACH STATEMENT EXECUTE FUNCTION tieout.guard_history();
CREATE TRIGGER guard_fact BEFORE DELETE OR UPDATE ON tieout.workings
  FOR EACH ROW EXECUTE FUNCTION tieout.guard_fact();

create table tieout.written_book_lines (
  report_id bigint not null,
  account_id text collate "C" not null,
  currency text not null,
  item text not null,
  line_no integer not null,
  order_no text collate "C",
  transaction_id text collate "C",
  batch text collate "C",
  break_id bigint,
  since date,
  captured numeric not null,
  refunded numeric not null,
  constraint written_book_lines_pkey PRIMARY KEY (report_id, account_id, currency, item, line_no),
  constraint written_book_lines_report_id_fkey FOREIGN KEY (report_id) REFERENCES tieout.reports(report_id) ON DELETE CASCADE
);

create table tieout.written_lines (
  report_id bigint not null,
  account_id text collate "C" not null,
  currency text not null,
  item text not null,
  line_no integer not null,
  order_no text collate "C" not null,
  break_id bigint,
  instruction_id bigint,
  since timestamp with time zone,
  ledger_captured numeric,
  gateway_captured numeric,
  ledger_refunded numeric,
  gateway_refunded numeric,
  moved_captured numeric,
  moved_refunded numeric,
  constraint written_lines_pkey PRIMARY KEY (report_id, account_id, currency, item, line_no),
  constraint written_lines_report_id_fkey FOREIGN KEY (report_id) REFERENCES tieout.reports(report_id) ON DELETE CASCADE
);

-- Views

create view tieout.absent_journals as
 SELECT j.journal_id,
    j.host,
    j.place,
    ((j.host || ' (') || j.place) || ')' AS name
   FROM tieout.journals j
     CROSS JOIN tieout.server_facts facts
  WHERE (j.verified_start IS DISTINCT FROM facts.started_at OR j.verified_timeline IS DISTINCT FROM facts.timeline OR NOT tieout.is_this_base(j.verified_system, facts.database)) AND j.verified_at > (clock_timestamp() - '30 days'::interval) AND (j.excused_at IS NULL OR j.excused_at < j.verified_at);

create view tieout.break_facts as
 SELECT b.break_id,
    b.account_id,
    b.order_no,
    b.kind,
    b.state,
    b.first_seen,
    b.expected,
    b.actual,
    b.fingerprint,
    b.currency,
    b.amount,
    b.owner,
    b.note,
    b.waived_reason,
    b.waived_by,
    b.waiver_asked_by,
    b.waiver_asked_reason,
    COALESCE(b.waiver_asked_for = b.fingerprint, false) AND b.state = 'open' AS waiver_waits,
    COALESCE(f.stake, b.amount) AS stake,
    f.difference,
    f.page,
    f.batch,
    f.text,
    b.kind || (
        CASE
            WHEN f.difference IS NOT NULL THEN ((((', delta ' ||
            CASE
                WHEN f.difference > 0::numeric THEN '+'
                ELSE ''
            END) || f.difference) || ' ') || b.currency) ||
            CASE tieout.taken_by(b.expected ->> 'state', b.actual ->> 'state')
                WHEN 'ledger' THEN ', not captured'
                WHEN 'gateway' THEN ', captured at the gateway alone'
                ELSE ''
            END
            WHEN b.kind = 'unknown_status' THEN ', code ' || COALESCE(b.actual ->> 'code', '(none)')
            WHEN b.kind = 'invalid_record' THEN ', ' || COALESCE(b.expected ->> 'problem', 'an entry of another shape')
            WHEN b.kind = ANY (ARRAY['state_mismatch', 'refund_mismatch', 'currency_mismatch']) THEN (((', ' || concat_ws(' ', COALESCE(b.expected ->> 'state', 'nothing'),
            CASE
                WHEN b.kind = 'currency_mismatch' THEN b.expected ->> 'currency'
                ELSE NULL::text
            END)) || ' here, ') || concat_ws(' ', COALESCE(b.actual ->> 'state', 'nothing'),
            CASE
                WHEN b.kind = 'currency_mismatch' THEN b.actual ->> 'currency'
                ELSE NULL::text
            END)) || ' there'
            WHEN b.kind = 'instruction_rejected' THEN COALESCE(', text ' || f.text, '')
            WHEN b.kind = 'outcome_unknown' THEN COALESCE(', batch ' || f.batch, '')
            ELSE ''
        END COLLATE "C") AS cause,
    lower(concat_ws(' ', b.order_no, b.expected ->> 'transaction', b.actual ->> 'transaction', ( SELECT string_agg(candidate.value ->> 'transaction', ' ') AS string_agg
           FROM jsonb_array_elements(b.actual -> 'candidates') candidate(value)), b.owner, b.note, b.waived_reason, b.waiver_asked_reason, f.text, b.expected ->> 'problem', b.actual ->> 'code')) AS searched
   FROM tieout.breaks b
     CROSS JOIN LATERAL ( SELECT tieout.break_money(b.kind, b.currency, b.expected, b.actual) AS stake,
                CASE
                    WHEN b.kind = 'amount_mismatch' AND (b.actual ->> 'amount') ~ '^\d{1,18}\.\d\d$' AND (b.expected ->> 'currency') = (b.actual ->> 'currency') THEN ((b.actual ->> 'amount')::numeric) - ((b.expected ->> 'amount')::numeric)
                    ELSE NULL::numeric
                END AS difference,
                CASE
                    WHEN b.kind = ANY (ARRAY['instruction_rejected', 'outcome_unknown']) THEN ( SELECT i.batch_id::text AS batch_id
                       FROM tieout.instructions i
                      WHERE i.account_id = b.account_id AND i.order_no = b.order_no
                      ORDER BY i.instruction_id DESC
                     LIMIT 1)
                    ELSE NULL::text
                END AS batch,
                CASE
                    WHEN b.kind = ANY (ARRAY['instruction_rejected', 'outcome_unknown']) THEN ( SELECT NULLIF(concat_ws(' ', i.outcome_code, i.outcome_message), '') AS "nullif"
                       FROM tieout.instructions i
                      WHERE i.account_id = b.account_id AND i.order_no = b.order_no
                      ORDER BY i.instruction_id DESC
                     LIMIT 1)
                    ELSE NULL::text
                END AS text,
            ( SELECT (((b.account_id || ' of ') || r.business_date) || ' no ') || o.page_no
                   FROM tieout.run_accounts ra
                     JOIN tieout.runs r USING (run_id)
                     JOIN tieout.asked_orders o ON o.pull_id = ra.pull_id AND o.account_id = b.account_id AND o.order_no = b.order_no
                  WHERE ra.account_id = b.account_id AND ra.pull_id IS NOT NULL AND NOT r.is_dry
                  ORDER BY ra.business_date DESC
                 LIMIT 1) AS page) f;

create view tieout.facts as
 SELECT l.account_id,
    'look' AS what,
    f.pos,
    l.link_id,
    f.line
   FROM tieout.look_links l
     CROSS JOIN LATERAL tieout.look_facts(l.pull_id, l.account_id) f(pos, line)
UNION ALL
 SELECT i.account_id,
    'instruction' AS what,
    e.seq AS pos,
    e.link_id,
    ROW(e.seq, e.instruction_id, e.from_state, e.to_state, EXTRACT(epoch FROM e.at), e.by, e.reason, i.run_id, i.order_no, i.operation, i.transaction_id, i.currency, i.amount, i.refund_id, i.refund_amount, i.review_decision)::text AS line
   FROM tieout.instruction_events e
     JOIN tieout.instructions i USING (instruction_id)
UNION ALL
 SELECT t.account_id,
    'attempt' AS what,
    0 AS pos,
    t.link_id,
    ROW(t.attempt_id, t.batch_id, t.attempt_no, t.entries, t.body_sha256, t.host, t.boot_id, t.pid, t.process_started, EXTRACT(epoch FROM t.claimed_at), t.outcome, EXTRACT(epoch FROM t.finished_at), t.reason, tieout.fact_digest(t.request_gzip))::text AS line
   FROM tieout.attempts t
  WHERE t.outcome IS NOT NULL
UNION ALL
 SELECT t.account_id,
    'answer' AS what,
    0 AS pos,
    a.link_id,
    ROW(a.attempt_id, EXTRACT(epoch FROM a.received_at), a.http_status, a.content_type, a.content_encoding, a.body_sha256, tieout.fact_digest(a.body))::text AS line
   FROM tieout.answers a
     JOIN tieout.attempts t USING (attempt_id)
UNION ALL
 SELECT b.account_id,
    'break' AS what,
    e.event_id AS pos,
    e.link_id,
    ROW(e.event_id, b.order_no, b.kind, e.run_id, EXTRACT(epoch FROM e.at), e.event, e.from_state, e.by, e.reason, e.currency, e.amount, e.expected, e.actual, e.cause, e.is_claim, e.decision_id, e.decided_over)::text AS line
   FROM tieout.break_events e
     JOIN tieout.breaks b USING (break_id)
UNION ALL
 SELECT decisions.account_id,
    'decision' AS what,
    decisions.decision_id AS pos,
    decisions.link_id,
    ROW(decisions.decision_id, decisions.instruction_id, decisions.decision, EXTRACT(epoch FROM decisions.at), decisions.decided_by, decisions.is_claim, decisions.reason, decisions.reference, decisions.finding, decisions.seen, decisions.seen_sha256, decisions.row_before, EXTRACT(epoch FROM decisions.expires_at))::text AS line
   FROM tieout.decisions
UNION ALL
 SELECT day_movements.account_id,
    'movement' AS what,
    day_movements.movement_id AS pos,
    day_movements.link_id,
    ROW(day_movements.movement_id, day_movements.instruction_id, day_movements.order_no, day_movements.operation, day_movements.currency, day_movements.amount, day_movements.belongs_to - '2000-01-01'::date, day_movements.posted_to - '2000-01-01'::date, day_movements.settled_run_id, EXTRACT(epoch FROM day_movements.posted_at))::text AS line
   FROM tieout.day_movements
UNION ALL
 SELECT day_events.account_id,
    'day' AS what,
    day_events.event_id AS pos,
    day_events.link_id,
    ROW(day_events.event_id, day_events.business_date - '2000-01-01'::date, day_events.event, EXTRACT(epoch FROM day_events.at), day_events.by, day_events.is_claim, day_events.reason, day_events.figures, day_events.open_items)::text AS line
   FROM tieout.day_events
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'brake' AS what,
    brakes.seq AS pos,
    brakes.link_id,
    ROW(brakes.seq, brakes.kind, brakes.account_id, brakes.is_on, brakes.reason, brakes.by, brakes.is_claim, EXTRACT(epoch FROM brakes.at), brakes.found)::text AS line
   FROM tieout.brakes
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'profile' AS what,
    0 AS pos,
    profiles.link_id,
    ROW(profiles.profile_sha256, profiles.profile)::text AS line
   FROM tieout.profiles
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'settings' AS what,
    run_settings.settings_id AS pos,
    run_settings.link_id,
    ROW(run_settings.settings_id, run_settings.run_id, EXTRACT(epoch FROM run_settings.at), run_settings.settings, run_settings.settings_sha256, run_settings.version)::text AS line
   FROM tieout.run_settings
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'working' AS what,
    w.working_id AS pos,
    w.link_id,
    ROW(w.working_id, w.run_id, w.kind, w.settings_id, w.account_ids, w.pull_id, w.failed_in, EXTRACT(epoch FROM w.at), w.last_instruction_event, w.last_break_event, ( SELECT tieout.fact_digest(convert_to(string_agg(ROW(c.break_id, c.state, c.expected, c.actual, c.fingerprint, c.currency, c.amount, c.last_run_id)::text || '
', '' ORDER BY c.break_id), 'UTF8'::name)) AS fact_digest
           FROM tieout.carried_breaks c
          WHERE c.working_id = w.working_id))::text AS line
   FROM tieout.workings w
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'end' AS what,
    run_ends.end_id AS pos,
    run_ends.link_id,
    ROW(run_ends.end_id, run_ends.run_id, EXTRACT(epoch FROM run_ends.at), run_ends.state, run_ends.failure, run_ends.summary)::text AS line
   FROM tieout.run_ends
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'report' AS what,
    reports.report_id AS pos,
    reports.link_id,
    ROW(reports.report_id, reports.run_id, reports.kind, reports.format, reports.revision, reports.path, reports.sha256, reports.bytes, EXTRACT(epoch FROM reports.written_at))::text AS line
   FROM tieout.reports
  WHERE reports.state = 'written'
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'removal' AS what,
    r.removal_id AS pos,
    r.link_id,
    ROW(r.removal_id, r.month, r.first_date - '2000-01-01'::date, r.last_date - '2000-01-01'::date, r.nights, r.looks, r.rows, r.bytes, r.kept_months, r.by, r.is_claim, EXTRACT(epoch FROM r.at), ( SELECT tieout.fact_digest(convert_to(string_agg(ROW(w.pull_id, w.account_id, w.link_id, w.facts, w.facts_sha256)::text || '
', '' ORDER BY w.pull_id, w.account_id), 'UTF8'::name)) AS fact_digest
           FROM tieout.removed_looks w
          WHERE w.removal_id = r.removal_id))::text AS line
   FROM tieout.evidence_removals r
UNION ALL
 SELECT movement_books.account_id,
    'book' AS what,
    0 AS pos,
    movement_books.link_id,
    ROW(movement_books.begins - '2000-01-01'::date, movement_books.history_before - '2000-01-01'::date, movement_books.run_id)::text AS line
   FROM tieout.movement_books
UNION ALL
 SELECT movements.account_id,
    'booked' AS what,
    movements.movement_id AS pos,
    movements.link_id,
    ROW(movements.movement_id, movements.order_no, movements.transaction_id, movements.kind, movements.currency, movements.amount, movements.made, movements.instruction_id, movements.reference, movements.business_date - '2000-01-01'::date, movements.run_id, movements.is_history, movements.day_movement_id)::text AS line
   FROM tieout.movements
UNION ALL
 SELECT m.account_id,
    'amount' AS what,
    a.amount_id AS pos,
    a.link_id,
    ROW(a.amount_id, a.movement_id, a.amount, a.known_by, a.business_date - '2000-01-01'::date, a.run_id, a.change, a.suspense)::text AS line
   FROM tieout.movement_amounts a
     JOIN tieout.movements m USING (movement_id)
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'file' AS what,
    settlement_files.file_id AS pos,
    settlement_files.link_id,
    ROW(settlement_files.file_id, settlement_files.name, settlement_files.sha256, settlement_files.map_sha256, settlement_files.accounts, settlement_files.batches, settlement_files.lines, settlement_files.totals, EXTRACT(epoch FROM settlement_files.imported_at))::text AS line
   FROM tieout.settlement_files
UNION ALL
 SELECT settlement_batches.account_id,
    'settlement' AS what,
    settlement_batches.file_id AS pos,
    settlement_batches.link_id,
    ROW(settlement_batches.batch, settlement_batches.currency, settlement_batches.file_id, settlement_batches.lines, settlement_batches.gross, settlement_batches.fees, settlement_batches.payout, settlement_batches.has_payout, EXTRACT(epoch FROM settlement_batches.first_booked_at), EXTRACT(epoch FROM settlement_batches.last_booked_at), settlement_batches.digest, tieout.settled_lines_sha256(settlement_batches.account_id, settlement_batches.batch, settlement_batches.currency))::text AS line
   FROM tieout.settlement_batches
UNION ALL
 SELECT '' COLLATE "C" AS account_id,
    'redaction' AS what,
    r.redaction_id AS pos,
    r.link_id,
    ROW(r.redaction_id, EXTRACT(epoch FROM r.at), r.by, r.is_claim, r.reason, ( SELECT tieout.fact_digest(convert_to(string_agg(ROW(t.relation, t.key, t.field, t.signs)::text || '
', '' ORDER BY t.relation, t.key, t.field), 'UTF8'::name)) AS fact_digest
           FROM tieout.redacted_texts t
          WHERE t.redaction_id = r.redaction_id), ( SELECT tieout.fact_digest(convert_to(string_agg(ROW(k.link_id, k.account_id, k.what, k.facts, k.sealed_sha256, k.after_sha256)::text || '
', '' ORDER BY k.link_id, k.account_id, k.what), 'UTF8'::name)) AS fact_digest
           FROM tieout.redacted_links k
          WHERE k.redaction_id = r.redaction_id))::text AS line
   FROM tieout.redactions r;

create view tieout.lost_moves as
 SELECT attempt_id,
    entry,
    account_id,
    operation,
    order_no,
    transaction_id,
    refund_id,
    currency,
    amount,
    sent_at,
    host,
    found_at
   FROM tieout.lost_permits l
  WHERE NOT (EXISTS ( SELECT
           FROM tieout.gateway_calls c
          WHERE c.permit_id = l.attempt_id AND (c.outcome = ANY (ARRAY['rejected', 'not_sent']))));

create view tieout.movements_now as
 SELECT m.movement_id,
    m.account_id,
    m.order_no,
    m.transaction_id,
    m.kind,
    m.currency,
        CASE
            WHEN a.movement_id IS NULL THEN m.amount
            ELSE a.amount
        END AS amount,
    m.made,
    m.instruction_id,
    m.reference,
    m.business_date,
    m.run_id,
    m.is_history,
    COALESCE(a.known_by, 'look') AS known_by,
    COALESCE(a.business_date, m.business_date) AS known_on
   FROM tieout.movements m
     LEFT JOIN LATERAL ( SELECT movement_amounts.movement_id,
            movement_amounts.amount,
            movement_amounts.known_by,
            movement_amounts.business_date
           FROM tieout.movement_amounts
          WHERE movement_amounts.movement_id = m.movement_id
          ORDER BY movement_amounts.amount_id DESC
         LIMIT 1) a ON true;

create view tieout.outcomes as
 SELECT seq,
    account_id,
    order_no,
    refund_id,
    operation,
    amount,
    currency,
    state,
    gateway_reference,
    at
   FROM tieout.outcome_rows
  WHERE seq IS NOT NULL;

create view tieout.put_backs as
 SELECT seq,
    at,
    reason,
    by,
    found
   FROM tieout.brakes
  WHERE found ?| '{restoredFrom,putBack}'[];

create view tieout.server_facts as
 SELECT pg_is_in_recovery() AS is_replica,
        CASE
            WHEN NOT pg_is_in_recovery() THEN "left"(pg_walfile_name(pg_current_wal_lsn()), 8)
            ELSE NULL::text
        END AS timeline,
    EXTRACT(epoch FROM pg_postmaster_start_time())::text AS started_at,
    concat_ws('.', ( SELECT pg_database.oid
           FROM pg_database
          WHERE pg_database.datname = current_database()), to_regclass('tieout.attempts')::oid, ( SELECT min(installation.xmin::text) AS min
           FROM tieout.installation)) AS database,
    ARRAY( SELECT name.name || ' = off'
           FROM unnest('{fsync,full_page_writes,synchronous_commit}'[]) name(name)
          WHERE current_setting(name.name) = 'off' AND current_setting('tieout.throwaway', true) IS DISTINCT FROM 'on') AS unsafe;

create view tieout.standing_brakes as
 SELECT seq,
    kind,
    account_id,
    is_on,
    reason,
    by,
    is_claim,
    at,
    found
   FROM ( SELECT DISTINCT ON (brakes.kind, brakes.account_id) brakes.seq,
            brakes.kind,
            brakes.account_id,
            brakes.is_on,
            brakes.reason,
            brakes.by,
            brakes.is_claim,
            brakes.at,
            brakes.found
           FROM tieout.brakes
          ORDER BY brakes.kind, brakes.account_id, brakes.seq DESC) newest
  WHERE is_on;

-- Sequences

create sequence tieout.chain_link_ids as bigint start 1 increment 1;

-- Functions

CREATE OR REPLACE FUNCTION tieout."analyse"(relation regclass, columns text[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if (select relnamespace from pg_class where oid = relation)
    is distinct from 'tieout'::regnamespace then
    raise exception '%: not a table of tieout', relation;
  end if;
  execute format('analyze %s%s', relation, (
    select ' (' || string_agg(quote_ident(name), ', ') || ')' from unnest(columns) as name));
end $function$;

CREATE OR REPLACE FUNCTION tieout.add_day_sums()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select account_id, posted_to, currency, operation, belongs_to <> posted_to, sum(amount), count(*)
  from posted group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4, 5
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.add_links(ids bigint[], day date, link_what text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  found tieout.chain_links[];
  links int;
begin
  execute format($facts$
    select array_agg(row(account_id, 0, link_id, $2, $3, facts, facts_sha256, '', '',
      clock_timestamp())::tieout.chain_links)
    from (
      select f.account_id, f.link_id, count(*) as facts, tieout.fact_digest(convert_to(
        string_agg(line || E'\n', '' order by pos, line collate "C"), 'UTF8')) as facts_sha256
      from (%s) f where f.link_id = any ($1) group by f.account_id, f.link_id
    ) as found $facts$, (select s.facts from tieout.fact_sources s where s.what = link_what))
  into found using ids, day, link_what;
  with link as (
    select row(h.account_id, h.link_no + 1, f.link_id, f.business_date, f.what, f.facts,
      f.facts_sha256, h.sha256, '', f.sealed_at)::tieout.chain_links as l
    from unnest(found) f join tieout.chain_heads h using (account_id)
  ),
  added as (
    insert into tieout.chain_links
    select (l).account_id, (l).link_no, (l).link_id, (l).business_date, (l).what, (l).facts,
      (l).facts_sha256, (l).previous_sha256, tieout.link_sha256(l), (l).sealed_at
    from link
    returning account_id, link_no, sha256
  ),
  moved as (
    update tieout.chain_heads h set link_no = a.link_no, sha256 = a.sha256
    from added a where a.account_id = h.account_id
    returning h.account_id
  )
  select count(*) into links from moved;
  if links <> cardinality(ids) then
    raise exception 'of % links of % only % have facts', cardinality(ids), link_what, links;
  end if;
  return links;
end $function$;

CREATE OR REPLACE FUNCTION tieout.agreed_fee(gross numeric, currency text, parts_per_million numeric, fixed jsonb, coarse jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select round(
    abs(gross) * parts_per_million / 1000000 + coalesce((fixed ->> currency)::numeric, 0),
    coalesce((coarse ->> currency)::int, 2))::numeric(40, 2)
$function$;

CREATE OR REPLACE FUNCTION tieout.amount_called(printed text)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select round(tieout.usable_amount(tieout.amount_in(printed)), 2)
$function$;

CREATE OR REPLACE FUNCTION tieout.amount_in(amount bigint)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select amount::numeric $function$;

CREATE OR REPLACE FUNCTION tieout.amount_in(amount double precision)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when abs(amount) < 1e30 then amount::numeric
    when amount is not null then 'NaN'::numeric end
$function$;

CREATE OR REPLACE FUNCTION tieout.amount_in(amount numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select amount $function$;

CREATE OR REPLACE FUNCTION tieout.amount_in(amount text)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when amount collate "C" ~ '^-?[0-9]{1,30}([.][0-9]{1,30})?$' then amount::numeric
    when amount is not null then 'NaN'::numeric end
$function$;

CREATE OR REPLACE FUNCTION tieout.amount_problem(amount numeric)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when amount is null then 'is missing, and so not above zero'
    when not (amount > 0 and amount < 1e18) then
      left(amount::text, 40) || ' is not above zero, or has more than 18 digits before the point'
    when amount <> round(amount, 2) then left(amount::text, 40) || ' has more than two decimals'
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.amount_problem(amount numeric, shown text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when amount = 'NaN' then left(shown, 40) || ' is no number, such as 12.34'
    else tieout.amount_problem(amount) end
$function$;

CREATE OR REPLACE FUNCTION tieout.answers_to(batch bigint, instruction bigint)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(array_agg(t.attempt_id), '{}')
  from tieout.attempts t join tieout.answers a using (attempt_id)
  where t.batch_id = batch and t.entries ? instruction::text
$function$;

CREATE OR REPLACE FUNCTION tieout.answers_to(i tieout.instructions)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(array_agg(t.attempt_id), '{}')
  from tieout.attempts_of(i) t join tieout.answers a using (attempt_id)
$function$;

CREATE OR REPLACE FUNCTION tieout.approval_lapse(i tieout.instructions)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when d.expires_at <= clock_timestamp() then 'approval_expired'
    when d.seen_sha256 <> tieout.seen_sha256(tieout.seen_of(i)) then 'approval_void'
  end
  from tieout.decisions d where d.decision_id = i.approval_id
$function$;

CREATE OR REPLACE FUNCTION tieout.approvals_in_sight(i tieout.instructions)
 RETURNS TABLE(reason text, decision_id bigint)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select d.row_before ->> 'hold_reason', max(d.decision_id)
  from tieout.decisions d
  where d.instruction_id = i.instruction_id and d.decision = 'approve'
    and d.expires_at > clock_timestamp()
    and d.seen_sha256 = tieout.seen_sha256(tieout.seen_of(i))
  group by 1
$function$;

CREATE OR REPLACE FUNCTION tieout.attempts_of(i tieout.instructions)
 RETURNS SETOF tieout.attempts
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select t.* from tieout.attempts t
  where t.batch_id = i.batch_id and t.entries ? i.instruction_id::text
  union all
  select t.* from tieout.attempts t
  where i.resends > 0 and t.sending_run_id >= i.run_id and t.account_id = i.account_id
    and t.batch_id is distinct from i.batch_id and t.entries ? i.instruction_id::text
$function$;

CREATE OR REPLACE FUNCTION tieout.await_settlement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into tieout.settlement_awaited select movement_id from added;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.back_to_unknown()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.state = 'unknown' and new.state = 'planned' and (new.resends <> old.resends + 1
      or old.is_disputed or old.operation not in ('capture', 'cancel')) then
    raise exception 'instruction %: it is not sent again', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.resends > 0 and old.state in ('planned', 'queued')
    and new.state in ('held', 'withdrawn') then
    new.reason := 'it was to be sent again, but: '
      || coalesce(new.hold_reason, new.reason, 'no reason');
    new.state := 'unknown';
    new.hold_reason := null;
    new.settled_at := null;
    new.settled_run_id := null;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.bars_twins(i tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select i.state in ('sending', 'accepted', 'unknown', 'confirmed')
    or i.replan_id is null and (i.state = 'rejected' or i.is_refused)
    or exists (select from tieout.calls_by_hand(i.transaction_id))
    -- sent before the database was put back, or perhaps: who takes its request out says nothing
    or i.operation = 'payout' and (exists (
        select from tieout.lost_moves l
        where l.account_id = i.account_id and l.order_no = i.order_no and l.operation = 'payout')
      or exists (
        select from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.to_state = 'held'
          and e.reason = 'restored'))
$function$;

CREATE OR REPLACE FUNCTION tieout.batch_days(accounts text[], since date, cut_off time without time zone, timezone text)
 RETURNS TABLE(account_id text, batch text, currency text, day date, lines bigint, gross numeric, fees numeric, chargebacks numeric, other numeric, paid_out numeric)
 LANGUAGE sql
 STABLE
AS $function$
  with counted as materialized (
    select b.account_id, b.batch, b.currency, b.payout, b.has_payout, b.last_booked_at
    from tieout.settlement_batches b
    where b.account_id = any (accounts)
      and tieout.is_in_books(b, (since + cut_off) at time zone timezone)
  ),
  brought as materialized (
    select l.account_id, l.batch, l.settle_currency as currency, day, count(*) as lines,
      coalesce(sum(l.gross) filter (where l.type in ('captured', 'refunded')), 0) as gross,
      coalesce(sum(l.fee), 0) - coalesce(sum(l.gross) filter (where l.type = 'fee'), 0) as fees,
      coalesce(-sum(l.gross) filter (where l.type in ('chargeback', 'chargeback_reversed')), 0)
        as chargebacks,
      coalesce(sum(l.gross) filter (where l.type in ('reserve', 'carried', 'adjustment')), 0)
        as other,
      max(l.booked_at) filter (where l.type = 'payout') as paid_at
    from tieout.settlement_lines l
    cross join lateral (
      select greatest(tieout.business_date_of(l.booked_at, cut_off, timezone), since) as day
    ) booked
    where (l.account_id, l.batch, l.settle_currency) in (
      select c.account_id, c.batch, c.currency from counted c)
    group by l.account_id, l.batch, l.settle_currency, day
  ),
  paid as (
    select c.account_id, c.batch, c.currency, c.payout,
      greatest(tieout.business_date_of(coalesce(case when c.has_payout then max(b.paid_at) end,
        c.last_booked_at), cut_off, timezone), since) as day
    from counted c
    left join brought b using (account_id, batch, currency)
    group by c.account_id, c.batch, c.currency, c.payout, c.has_payout, c.last_booked_at
  )
  select account_id, batch, currency, day, coalesce(b.lines, 0), coalesce(b.gross, 0),
    coalesce(b.fees, 0), coalesce(b.chargebacks, 0), coalesce(b.other, 0), coalesce(p.payout, 0)
  from brought b
  full join paid p using (account_id, batch, currency, day)
$function$;

CREATE OR REPLACE FUNCTION tieout.break_money(kind text, currency text, expected jsonb, actual jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when kind in ('fee_variance', 'settlement_amount')
      and actual ->> 'off' ~ '^\d{1,18}(\.\d\d?)?$' and expected ->> 'currency' = currency
    then (actual ->> 'off')::numeric
    else tieout.break_stake(case
      when kind in ('settlement_amount', 'settled_twice', 'fee_variance')
        and expected ->> 'currency' = actual ->> 'currency'
        and actual ? 'amount' and expected ? 'amount'
      then 'amount_mismatch'
      when kind = 'amount_mismatch' and expected ->> 'currency' <> actual ->> 'currency'
        and actual ->> 'currency' = currency
      then 'currency_mismatch' else kind end,
      case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
      case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.break_seen_sha256(state text, expected jsonb, actual jsonb, fingerprint text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select tieout.seen_sha256(jsonb_build_object('state', state, 'expected', expected,
    'actual', actual, 'fingerprint', fingerprint))
$function$;

CREATE OR REPLACE FUNCTION tieout.break_stake(kind text, expected jsonb, actual jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when kind = 'amount_mismatch'
      and tieout.taken_by(expected ->> 'state', actual ->> 'state') is null
    then abs(
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end
      - case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end)
    else greatest(
      case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end,
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end)
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.bring_numbers_forward()
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog'
AS $function$
declare
  one record;
  used bigint;
  moved text[] := '{}';
begin
  -- Who hands out no number brings none forward; before PostgreSQL 18 it may not even ask.
  if not has_sequence_privilege('tieout.chain_link_ids', 'usage') then return moved; end if;
  select max(link_id) into used from tieout.chain_links;
  if used <= coalesce(pg_sequence_last_value('tieout.chain_link_ids'), 0) then return moved; end if;
  for one in
    select s.seqrelid as sequence, c.oid::regclass as numbered, a.attname as number,
      case when c.relname in ('runs', 'pulls') then ' % 100000000' else '' end as of_month
    from pg_sequence s
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.seqrelid
      and d.refclassid = 'pg_class'::regclass and d.deptype = 'i'
    join pg_class c on c.oid = d.refobjid and c.relnamespace = 'tieout'::regnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
    union all
    select 'tieout.chain_link_ids'::regclass, 'tieout.chain_links', 'link_id', ''
  loop
    continue when not has_sequence_privilege(one.sequence, 'update');
    execute format('select max(%I)%s from %s', one.number, one.of_month, one.numbered) into used;
    continue when used is null or used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    -- Of two that find it at once the second one asks again, and finds it done.
    perform pg_advisory_xact_lock(hashtext('tieout.bring_numbers_forward'));
    continue when used <= coalesce(pg_sequence_last_value(one.sequence), 0);
    perform setval(one.sequence, used + 1000);
    moved := moved || one.numbered::text;
  end loop;
  return moved;
end $function$;

CREATE OR REPLACE FUNCTION tieout.business_date_of(at timestamp with time zone, cut_off time without time zone, timezone text)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select ((at at time zone timezone) - cut_off::interval)::date
$function$;

CREATE OR REPLACE FUNCTION tieout.calls_by_hand(request_id text)
 RETURNS SETOF tieout.gateway_calls
 LANGUAGE sql
 STABLE
AS $function$
  select c.* from tieout.gateway_calls c
  where c.operation = 'payout' and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('request_id', calls_by_hand.request_id)),
      jsonb_build_array(jsonb_build_object('request_id', upper(calls_by_hand.request_id)))])
$function$;

CREATE OR REPLACE FUNCTION tieout.calls_seen(i tieout.instructions)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'byHand', jsonb_agg(jsonb_build_object('callId', c.call_id, 'operation', c.operation,
      'amount', coalesce(e ->> 'refund_amount', e ->> 'amount'), 'currency', e ->> 'currency',
      'by', c.called_by, 'at', c.at at time zone 'UTC') order by c.call_id)) end
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  where i.operation <> 'payout' and (c.account_id = i.account_id or e ->> 'transaction_id' = i.transaction_id)
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('order_no', i.order_no)),
      jsonb_build_array(jsonb_build_object('transaction_id', i.transaction_id))])
    and (e ->> 'order_no' = i.order_no or e ->> 'transaction_id' = i.transaction_id)
$function$;

CREATE OR REPLACE FUNCTION tieout.came_by(found timestamp with time zone, account text, request text, now timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select found + interval '14 days' >= coalesce((
    select min(i.created_at) from tieout.instructions i
    where i.operation = 'payout' and i.account_id = account and i.transaction_id = request), now)
$function$;

CREATE OR REPLACE FUNCTION tieout.changed_breaks(run bigint, accounts text[])
 RETURNS TABLE(break_id bigint, account_id text, order_no text, kind text, first_seen timestamp with time zone, owner text, currency text, change text, stake_before numeric, stake_after numeric, moved numeric, at timestamp with time zone, by text, is_claim boolean, reason text, cause text)
 LANGUAGE sql
 STABLE
AS $function$
  with account as materialized (
    select ra.account_id, ra.events_after,
      coalesce(ra.events_until, 9223372036854775807) as events_until
    from tieout.run_accounts ra where ra.run_id = run and ra.account_id = any (accounts)
  ),
  between_ends as materialized (
    select distinct e.break_id from tieout.break_events e
    where e.event_id > (select min(events_after) from account where events_after > 0)
      and e.event_id <= (select max(events_until) from account where events_after > 0)
      and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
  ),
  -- A break by its number, one at a time: a join would go through all of them.
  candidate as (
    select b.break_row as broken, a.events_after, a.events_until
    from between_ends t
    cross join lateral (
      select b as break_row from tieout.breaks b where b.break_id = t.break_id offset 0
    ) b
    join account a on a.account_id = (b.break_row).account_id and a.events_after > 0
    union all
    select b, 0, a.events_until
    from account a join tieout.breaks b on b.account_id = a.account_id and a.events_after = 0
    where b.first_run_id <= run
  ),
  -- The events that say how it stood at each end (open or not), what both sides said there, and
  -- what opened it and what ended it in between.
  ends as (
    select c.broken, was.row_of as was, became.row_of as became,
      said_before.row_of as said_before, said_after.row_of as said_after,
      came.row_of as came, ended.row_of as ended
    from candidate c
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'changed')
      order by e.event_id desc limit 1
    ) said_after
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) became
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'changed')
      order by e.event_id desc limit 1
    ) said_before on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) was on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id > c.events_after
        and e.event_id <= c.events_until and e.event in ('opened', 'reopened')
      order by e.event_id desc limit 1
    ) came on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id > c.events_after
        and e.event_id <= c.events_until and e.event in ('waived', 'resolved')
        and e.from_state = 'open'
      order by e.event_id desc limit 1
    ) ended on true
    where greatest((said_after.row_of).event_id, (became.row_of).event_id) > c.events_after
  ),
  known as materialized (
    select (broken).break_id, (broken).account_id, (broken).order_no, (broken).kind,
      (broken).first_seen, (broken).owner,
      (was).event as was, coalesce((was).event in ('opened', 'reopened'), false) as was_open,
      (became).event in ('opened', 'reopened') as is_open,
      (said_before).currency as was_currency, (said_after).currency as is_currency,
      round(coalesce(tieout.break_money((broken).kind, (said_before).currency,
        (said_before).expected, (said_before).actual),
        (said_before).amount), 2) as was_stake,
      round(coalesce(tieout.break_money((broken).kind, (said_after).currency,
        (said_after).expected, (said_after).actual),
        (said_after).amount), 2) as is_stake,
      said_after, became, came, ended
    from ends
  ),
  -- One that came back in another currency has ended in the one and is open again in the other;
  -- one that came and went between the two ends is under both.
  named as (
    select k.*, half.*, case when was_open then was_stake else is_stake end as stake_then, case
      when half.before and half.after then case
        when coalesce(is_stake, 0) > coalesce(was_stake, 0) then 'grown'
        when coalesce(is_stake, 0) < coalesce(was_stake, 0) then 'shrunk' end
      when half.after then case when was is null then 'new' else 'reopened' end
      when is_open then 'resolved'
      else coalesce((ended).event, (became).event) end as change,
      -- who and why: of what opened or ended it, or of what it says now
      case when was_open and is_open then said_after
        when half.after then came else coalesce(ended, became) end as told
    from known k
    cross join lateral (
      select was_currency as currency, true as before, false as after
      where was_open and (not is_open or was_currency is distinct from is_currency)
      union all
      select is_currency, was_open and was_currency is not distinct from is_currency, true
      where is_open
      union all
      select is_currency, went, not went from unnest(array[false, true]) as went
      where not was_open and not is_open and (came).event is not null
    ) half
  )
  select n.break_id, n.account_id, n.order_no, n.kind, n.first_seen, n.owner, n.currency, n.change,
    case when before then stake_then end, case when after then is_stake end,
    case when after then coalesce(is_stake, 0) else 0 end
      - case when before then coalesce(stake_then, 0) else 0 end,
    (n.told).at, (n.told).by, (n.told).is_claim, (n.told).reason, (n.told).cause
  from named n where n.change is not null
$function$;

CREATE OR REPLACE FUNCTION tieout.chargebacks_about(of_account text, of_order text, by text)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
AS $function$
  with knows as materialized (
    select of_account as account_id, of_order as order_no
    union
    select l.account_id, l.order_no from tieout.settlement_lines l where l.transaction_id = by
    union
    select m.account_id, m.order_no from tieout.movement_books b
    join tieout.movements m on m.account_id = b.account_id and m.transaction_id = by
    union
    select i.account_id, i.order_no from tieout.instructions i
    where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
  )
  select array(
    select distinct line from knows
    cross join unnest(tieout.chargebacks_of_account(account_id, order_no, by)) as line
    where account_id <> of_account or order_no = of_order)
$function$;

CREATE OR REPLACE FUNCTION tieout.chargebacks_of_account(of_account text, of_order text, by text)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
AS $function$
  with named as materialized (
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = of_account and l.order_no = of_order
      and l.type in ('chargeback', 'chargeback_reversed')
    union
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = of_account and l.transaction_id = by
      and l.type in ('chargeback', 'chargeback_reversed')
  ),
  place as materialized (
    select of_order as order_no
    union
    select tieout.place_of_line(l)
    from named join tieout.settlement_lines l using (settlement_line_id)
  ),
  known as materialized (
    select m.transaction_id from place
    join tieout.movements m on m.account_id = of_account and m.order_no = place.order_no
    union
    select i.transaction_id from place
    join tieout.instructions i on i.account_id = of_account and i.order_no = place.order_no
    where i.operation <> 'payout' and not i.is_void
  ),
  about as (
    select l.settlement_line_id from place
    join tieout.settlement_lines l on l.account_id = of_account and l.order_no = place.order_no
      and l.type in ('chargeback', 'chargeback_reversed')
    union
    select l.settlement_line_id from known
    join tieout.settlement_lines l on l.account_id = of_account
      and l.transaction_id = known.transaction_id
      and l.type in ('chargeback', 'chargeback_reversed')
  )
  select array(
    select settlement_line_id from named
    union
    select settlement_line_id from about join tieout.settlement_lines l using (settlement_line_id)
    where tieout.place_of_line(l) in (select order_no from place))
$function$;

CREATE OR REPLACE FUNCTION tieout.closed_until(account text)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select max(business_date) from (
    select distinct on (business_date) business_date, event from tieout.day_events
    where account_id = account order by business_date, event_id desc
  ) newest
  where event <> 'reopened'
$function$;

CREATE OR REPLACE FUNCTION tieout.copied(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(case when value ~ E'[\\\\\b\t\n\x0B\f\r]' then
    replace(replace(replace(replace(replace(replace(replace(value, '\', '\\'), E'\b', '\b'),
      E'\t', '\t'), E'\n', '\n'), E'\x0B', '\v'), E'\f', '\f'), E'\r', '\r')
    else value end, '\N')
$function$;

CREATE OR REPLACE FUNCTION tieout.copied_lines_sha256(account text, batch_name text, settled_in text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select tieout.fact_digest(string_agg(sha256, '' order by piece))
  from (
    select piece,
      sha256(convert_to(string_agg(line, '' order by settlement_line_id), 'UTF8')) as sha256
    from (
      select settlement_line_id,
        (row_number() over (order by settlement_line_id) - 1) / 1000 as piece,
        concat_ws(E'\t', settlement_line_id, tieout.copied(account_id), tieout.copied(batch),
          tieout.copied(line_id), line_no, type,
          to_char(booked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          tieout.copied(order_no), tieout.copied(transaction_id), tieout.copied(reference),
          currency, amount, settle_currency, gross, fee, net) || E'\n' as line
      from tieout.settlement_lines
      where account_id = account and batch = batch_name and settle_currency = settled_in
    ) lines
    group by piece
  ) pieces
$function$;

CREATE OR REPLACE FUNCTION tieout.covered_from(starts_at timestamp with time zone, covers date[], schedule jsonb)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select least(starts_at, (covers[1] + (schedule ->> 'cutOff')::time)
    at time zone (schedule ->> 'timezone'))
$function$;

CREATE OR REPLACE FUNCTION tieout.day_end(day date, zone text, cut_off time without time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (day + 1 + cut_off) at time zone zone
$function$;

CREATE OR REPLACE FUNCTION tieout.day_signings(of_date date, accounts text[])
 RETURNS TABLE(account_id text, events jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  select e.account_id, jsonb_agg(jsonb_build_object('event', e.event, 'by', e.by,
    'isClaim', e.is_claim, 'at', e.at, 'revision', coalesce((
      -- the one that was seen; a decision of before kept none
      select (item ->> 'revision')::int from jsonb_array_elements(e.open_items) as item
      where item ->> 'what' = 'workbook'), (
      select max(p.revision) from tieout.runs r join tieout.reports p using (run_id)
      where r.business_date = of_date and not r.is_dry and p.kind = 'reconciliation'
        and p.format = 'xlsx' and p.period is null and p.state = 'written'
        and p.written_at <= e.at))) order by e.event_id)
  from tieout.day_events e
  where e.business_date = of_date and e.account_id = any (accounts) and e.event <> 'reopened'
    and not exists (
      select from tieout.day_events later
      where later.account_id = e.account_id and later.business_date = e.business_date
        and later.event = 'reopened' and later.event_id > e.event_id)
  group by e.account_id
$function$;

CREATE OR REPLACE FUNCTION tieout.day_state(account text, day date)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((
    select case event when 'reopened' then 'open' else event end from tieout.day_events
    where account_id = account and business_date = day order by event_id desc limit 1), 'open')
$function$;

CREATE OR REPLACE FUNCTION tieout.disputed_money()
 RETURNS TABLE(account_id text, order_no text, transaction_id text)
 LANGUAGE sql
 STABLE
AS $function$
  with charged as materialized (
    select * from tieout.not_reversed(array(
      select settlement_line_id from tieout.settlement_lines
      where type in ('chargeback', 'chargeback_reversed')))
  )
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
  union all
  select account_id, place, null from charged
  union all
  select account_id, named, null from charged cross join unnest(order_nos) as o (named)
  union all
  select account_id, null, named from charged cross join unnest(transaction_ids) as t (named)
  union all
  -- what the account knew of the order that its line names
  select c.account_id, null, known.transaction_id
  from charged c
  cross join lateral (
    select m.transaction_id from tieout.movements m
    where m.account_id = c.account_id and m.order_no = c.place
    union
    select i.transaction_id from tieout.instructions i
    where i.account_id = c.account_id and i.order_no = c.place
      and i.operation <> 'payout' and not i.is_void
  ) known
$function$;

CREATE OR REPLACE FUNCTION tieout.disputes_seen(i tieout.instructions)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'disputes', jsonb_agg(distinct jsonb_build_object(
      'disputeId', left(d.dispute_id, 512), 'stage', d.stage, 'currency', d.currency,
      'amount', round(d.amount, 2)::text, 'order', left(d.order_no, 512),
      'transaction', left(d.transaction_id, 512), 'at', d.at at time zone 'UTC')
      || case when d.batch is null then '{}' else jsonb_build_object('batch', d.batch) end)) end
  from (
    select one.account_id, one.order_no, one.transaction_id, one.dispute_id, null as batch,
      one.stage, one.currency, one.amount, one.at
    from tieout.ledger_disputes() one
    where one.account_id collate "C" = i.account_id and one.order_no collate "C" = i.order_no
    union
    select one.account_id, one.order_no, one.transaction_id, one.dispute_id, null,
      one.stage, one.currency, one.amount, one.at
    from tieout.ledger_disputes() one
    where one.transaction_id collate "C" = i.transaction_id
    union
    select l.account_id, l.order_no, l.transaction_id, l.line_id, l.batch, l.type, l.currency,
      l.amount, l.booked_at
    from tieout.settlement_lines l
    where l.settlement_line_id = any (
      tieout.chargebacks_about(i.account_id, i.order_no, i.transaction_id))
  ) d
$function$;

CREATE OR REPLACE FUNCTION tieout.doubled(of_account text, of_order text, of_operation text, by text, of_refund text, money numeric, of_currency text)
 RETURNS TABLE(reason text)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select d.reason from tieout.doubles(of_account, of_order, of_operation, by, of_refund, money,
    of_currency) d
  limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.doubles(of_account text, of_order text, of_operation text, by text, of_refund text, money numeric, of_currency text)
 RETURNS TABLE(reason text)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  (select 'second_capture'
   from tieout.instructions i
   where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
   limit 1)
  union all
  (select 'moved_already'
   from tieout.instructions i
   where of_operation in ('capture', 'cancel') and i.account_id = of_account
     and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
     and i.operation in ('capture', 'cancel')
   limit 1)
  union all
  (select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
   from tieout.instructions i
   where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
     and (i.account_id = of_account) <> (i.order_no = of_order)
     and case when i.account_id <> of_account
         then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
       when of_operation = 'refund' then i.operation = 'refund'
       else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
   limit 1)
  union all
  (select 'by_hand'
   from tieout.gateway_calls c
   where (c.account_id = of_account
       or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', by)))
     and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
     and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
     -- the contrary of it only of this very transaction: the other of two may be let go by hand
     and c.entries @> any (array[
       case when c.operation = of_operation
         then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
       jsonb_build_array(jsonb_build_object('transaction_id', by))])
   limit 1)
  union all
  (select twin.reason
   from (
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
       and i.operation = 'refund' and i.refund_id <> of_refund
       and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
           and (i.refund_amount = money
             or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
         else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
       -- another shop may number its requests alike
       and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation in ('capture', 'cancel') and i.operation = of_operation
       and i.operation in ('capture', 'cancel') and i.transaction_id = by
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no) <> (of_account, of_order)
   ) twin limit 1)
  union all
  (select 'over_captured'
   from tieout.instructions i
   where of_operation = 'refund'
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
     and not i.is_void -- by which it is found
     and (i.currency <> of_currency or exists (
       select from tieout.instructions other
       where other.transaction_id = by and other.operation = 'refund' and not other.is_void
         and other.currency <> of_currency
       ) or i.amount < money + coalesce((
       select sum(paid.refund_amount) from tieout.instructions paid
       where paid.transaction_id = by and paid.operation = 'refund' and not paid.is_void
         and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))
   limit 1)
$function$;

CREATE OR REPLACE FUNCTION tieout.drawn_as(pull_id bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select pull_id % 100000000
$function$;

CREATE OR REPLACE FUNCTION tieout.drop_month(month_name text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  relation text;
  kept bigint;
  holds text[];
begin
  -- What no setting lets go is younger than three whole months; nor does what is not settled.
  select m.holds into holds from tieout.kept_months(
    (date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '3 months')::date,
    month_name) m where m.month = month_name;
  if holds <> '{}' then
    raise exception 'month %: it is kept: %', month_name, array_to_string(holds, '; ')
      using errcode = 'check_violation';
  end if;
  if not exists (select from tieout.evidence_removals e where e.month = month_name) then
    raise exception 'month %: no removal of it is on record', month_name;
  end if;
  execute format('select min(pull_id) from tieout.%I p join tieout.look_links k
      using (pull_id, account_id)
    where not exists (select from tieout.removed_looks w
      where w.pull_id = k.pull_id and w.account_id = k.account_id)', 'pages_' || month_name)
    into kept;
  if kept is not null then
    raise exception 'month %: the removal does not say what snapshot % was', month_name, kept;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('drop table tieout.%I', relation || '_' || month_name);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tieout.fact_digest(content bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select encode(sha256(content), 'hex')
$function$;

CREATE OR REPLACE FUNCTION tieout.finished_look(account text, before date)
 RETURNS TABLE(run_id bigint, pull_id bigint, as_of timestamp with time zone, business_date date, has_gap boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select ra.run_id, ra.pull_id, p.as_of, ra.business_date, exists (
    select from tieout.pages page
    where page.pull_id = ra.pull_id and page.account_id = ra.account_id and page.state = 'failed')
  from tieout.run_accounts ra
  join tieout.runs r using (run_id)
  join tieout.pulls p on p.pull_id = ra.pull_id
  where ra.account_id = account collate "C" and (before is null or ra.business_date < before)
    and not r.is_dry and p.finished_at is not null
  order by ra.business_date desc
  limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.found_breaks(ids bigint[], accounts text[], kinds text[], states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text, seen_from timestamp with time zone, seen_before timestamp with time zone, order_no text, cause text)
 RETURNS SETOF tieout.break_facts
 LANGUAGE sql
 STABLE
AS $function$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states)
      or ('waiver_asked' = any (states) and f.waiver_waits))
    and (found_breaks.currency is null or f.currency = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0
      or exists (
        select from tieout.instructions i
        where i.account_id = f.account_id and i.order_no = f.order_no and i.operation = 'refund'
          and position(lower(found_breaks.searched) in lower(
            concat_ws(' ', i.refund_id, i.gateway_reference, i.refund_reference))) > 0))
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$function$;

CREATE OR REPLACE FUNCTION tieout.grant_all_roles(writer text, reader text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  room text;
  relation text;
begin
  for room in select nspname from pg_namespace
    where nspname in ('tieout', 'ledger', 'tieout_meta', 'bullmq') order by 1
  loop
    if writer is not null then
      execute format('grant usage on schema %I to %I', room, writer);
      execute format('grant %s on all tables in schema %I to %I',
        case room when 'tieout_meta' then 'select' else 'select, insert, update, delete' end,
        room, writer);
      execute format('grant usage, select, update on all sequences in schema %I to %I',
        room, writer);
    end if;
    if reader is not null and room <> 'bullmq' then
      execute format('grant usage on schema %I to %I', room, reader);
      execute format('grant select on all tables in schema %I to %I', room, reader);
    end if;
  end loop;
  if writer is not null then
    execute format('alter default privileges grant usage on schemas to %I', writer);
    execute format('alter default privileges grant select, insert, update, delete on tables to %I',
      writer);
    execute format('alter default privileges grant usage, select, update on sequences to %I',
      writer);
  end if;
  if reader is not null then
    execute format('alter default privileges in schema tieout grant select on tables to %I',
      reader);
    foreach relation in array array['users', 'sessions', 'sign_in_failures', 'sign_in_links',
      'workbook_key'] loop
      execute format('revoke select on tieout.%I from %I', relation, reader);
    end loop;
    execute format('grant select (user_id, name, name_key, state, created_at, created_by)
      on tieout.users to %I', reader);
    execute format('grant select (failure_id, at, name_key, address)
      on tieout.sign_in_failures to %I', reader);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION tieout.grant_roles(writer text, reader text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform tieout.grant_all_roles(writer, reader);
  perform tieout.keep_to_owner();
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_amounts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  late record;
begin
  select p.account_id, p.business_date into late
  from (
    select m.account_id, min(a.business_date) as business_date
    from added a join tieout.movements m using (movement_id)
    where not m.is_history group by m.account_id
  ) p
  where p.business_date <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.business_date, late.account_id
      using errcode = 'check_violation';
  end if;
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select m.account_id, a.business_date, m.currency, m.kind || '_elsewhere', false, sum(a.change), 0
  from added a join tieout.movements m using (movement_id)
  where not m.is_history group by 1, 2, 3, 4
  union all
  select m.account_id, a.business_date, m.currency, 'suspense', false, 0, sum(a.suspense)
  from added a join tieout.movements m using (movement_id)
  where not m.is_history and a.suspense <> 0 group by 1, 2, 3
  order by 1, 2, 3, 4
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (old.batch_id, old.attempt_no, old.entries, old.body_sha256, old.claimed_at)
      is distinct from
      (new.batch_id, new.attempt_no, new.entries, new.body_sha256, new.claimed_at) then
    raise exception 'attempt %: an attempt is history', old.attempt_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_batch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.state <> new.state and not exists (
    select from (values
      ('queued', 'sending'), ('queued', 'dropped'),
      ('sending', 'queued'), ('sending', 'answered'), ('sending', 'unanswered')
    ) as batch_move (from_state, to_state)
    where batch_move.from_state = old.state and batch_move.to_state = new.state
  ) then
    raise exception 'batch %: no move from % to %', old.batch_id, old.state, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_booked()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  late record;
begin
  select p.account_id, p.business_date into late
  from (
    select b.account_id, min(b.business_date) as business_date
    from booked b where not b.is_history and b.made = 'elsewhere' group by b.account_id
  ) p
  where p.business_date <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.business_date, late.account_id
      using errcode = 'check_violation';
  end if;
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select account_id, business_date, currency, kind || '_elsewhere', false,
    coalesce(sum(amount), 0), count(*)
  from booked where not is_history and made = 'elsewhere' group by 1, 2, 3, 4
  union all
  select account_id, business_date, currency, 'suspense', false, 0, count(*)
  from booked where not is_history and amount is null group by 1, 2, 3
  order by 1, 2, 3, 4
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_brake()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'what stopped the sending, and when, is history'
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_break()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  stake numeric;
begin
  if old.state = 'waived' then
    new.waiver_asked_by := null;
    new.waiver_asked_reason := null;
    new.waiver_asked_for := null;
    new.waived_by := null;
    new.waived_reason := null;
    new.waived_limit := null;
    return new;
  elsif new.state <> 'waived' then
    return new;
  end if;
  if old.state <> 'open' then
    raise exception 'break %: only an open break is waived', old.break_id
      using errcode = 'check_violation';
  end if;
  if coalesce(btrim(new.waived_by), '') = '' or coalesce(btrim(new.waived_reason), '') = ''
    or new.waived_limit is null then
    raise exception 'break %: a waiver names who, why and the limit in force', old.break_id
      using errcode = 'check_violation';
  end if;
  stake := tieout.waiver_stake(new.kind, new.currency, new.amount, new.expected, new.actual);
  if (stake is null or stake > new.waived_limit)
    and (old.waiver_asked_by is null or old.waiver_asked_for is distinct from new.fingerprint
      or lower(btrim(old.waiver_asked_by)) = lower(btrim(new.waived_by))) then
    raise exception 'break %: a waiver of this size needs a second person', old.break_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_console_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'what was done in the console is history' using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_day()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  state text := tieout.day_state(new.account_id, new.business_date);
  closed date := tieout.closed_until(new.account_id);
  problem text;
begin
  problem := case
    when new.event = 'closed' and state = 'locked' then 'is ' || state || ' already'
    when new.event = 'closed' and state = 'open' and new.business_date < closed
      then 'lies before a closed day'
    when new.event = 'locked' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and new.business_date < closed
      then 'is followed by a closed day, ' || closed
  end;
  if problem is not null then
    raise exception 'day % of account % %', new.business_date, new.account_id, problem
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_day_sum()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the sums of business days follow from their history'
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_decided()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.state <> old.state and old.replan_id is not null then
    new.replan_id := null;
  end if;
  if new.approval_id is distinct from old.approval_id then
    perform from tieout.decisions d where d.decision_id = new.approval_id
      and d.instruction_id = new.instruction_id and d.decision = 'approve';
    if not found then
      raise exception 'instruction %: that is no approval of it', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if new.payload is distinct from old.payload then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.replan_id is not null and new.replan_id is distinct from old.replan_id then
    perform from tieout.decisions d where d.decision_id = new.replan_id
      and d.instruction_id = new.instruction_id and d.decision = 'replan';
    if not found then
      raise exception 'instruction %: nobody had it planned again', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if old.state = 'held' and new.state = 'queued' and new.approval_id is null then
    raise exception 'instruction %: nobody approved it', old.instruction_id
      using errcode = 'check_violation';
  end if;
  -- That something may have been paid is over by what a look shows, or by what a person found.
  if old.state in ('accepted', 'unknown') and new.state = 'rejected' and not exists (
    select from tieout.decisions d
    where d.instruction_id = old.instruction_id and d.finding = 'not_happened'
      and d.decision_id = (select max(last.decision_id) from tieout.decisions last
        where last.instruction_id = old.instruction_id)) then
    raise exception 'instruction %: nobody found that it did not happen', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.is_refused and not new.is_refused then
    raise exception 'instruction %: that a person refused it stays', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.freed_by is not null and new.freed_by is null then
    raise exception 'instruction %: that a setting freed it stays', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.state = 'sending' and old.state <> 'sending' and new.approval_id is not null
    and tieout.approval_lapse(new) is not null then
    raise exception 'instruction %: its approval holds no more', old.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_decision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  i tieout.instructions;
begin
  if tg_op <> 'INSERT' then
    raise exception 'decision %: a decision is history', old.decision_id
      using errcode = 'check_violation';
  end if;
  select * into strict i from tieout.instructions
  where instruction_id = new.instruction_id for update;
  if new.account_id <> i.account_id or not i.state = any (case new.decision
      when 'approve' then array['held']
      when 'reject' then array['planned', 'held', 'queued']
      when 'resolve' then array['unknown', 'accepted']
      when 'replan' then array['rejected', 'withdrawn'] end) then
    raise exception 'instruction %: no % while it is %', i.instruction_id, new.decision, i.state
      using errcode = 'check_violation';
  end if;
  if i.state = 'accepted' and not tieout.is_pending(i) then
    raise exception 'instruction %: its answer stands, and a snapshot confirms it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and i.hold_reason not in ('approval', 'above_limit',
      'over_limit_of_run', 'fraud_rejected', 'approval_expired', 'approval_void', 'restored',
      'second_capture', 'shared_refund', 'newly_freed', 'shared_transaction', 'by_hand',
      'twin_request', 'over_captured', 'disputed', 'moved_already', 'not_signed') then
    raise exception 'instruction %: no approval helps against %', i.instruction_id, i.hold_reason
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and (
    exists (select from unnest(i.asked_by) as asker
      where tieout.is_same_person(asker, new.decided_by))
    or exists (select from ledger.refund_requests r
      where i.operation = 'refund' and r.account_id::text collate "C" = i.account_id
        and r.refund_id::text collate "C" = i.refund_id
        and tieout.is_same_person(r.requested_by::text collate "default",
          new.decided_by))) then
    raise exception 'instruction %: who asked for it cannot approve it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'replan' and i.operation in ('refund', 'payout') and i.state = 'rejected'
    and exists (
    select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.finding = 'not_happened'
      and tieout.is_same_person(d.decided_by, new.decided_by)) then
    raise exception 'instruction %: a second person has to have it planned again', i.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_fact()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  probe record;
begin
  if tg_op = 'UPDATE' then
    probe := new;
    probe.link_id := old.link_id;
    if old.link_id is null and probe is not distinct from old then
      return new;
    end if;
  end if;
  raise exception '%: what was recorded is history', tg_table_name
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE PROCEDURE tieout.guard_facts(IN relation text, IN late text, IN guard text)
 LANGUAGE plpgsql
AS $procedure$
declare
  others text;
begin
  select string_agg(format('old.%1$I is distinct from new.%1$I', attname), ' or ' order by attnum)
  into others
  from pg_attribute
  where attrelid = ('tieout.' || relation)::regclass and attnum > 0 and not attisdropped
    and attname <> late;
  execute format('drop trigger %I on tieout.%I', guard, relation);
  execute format('create trigger %1$I before update on tieout.%2$I for each row
    when (old.%3$I is not null or %4$s) execute function tieout.%1$I()',
    guard, relation, late, others);
  execute format('create trigger %1$I before delete on tieout.%2$I for each row
    execute function tieout.%3$I()', guard || '_kept', relation, guard);
end $procedure$;

CREATE OR REPLACE FUNCTION tieout.guard_gateway_call()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (new.call_id, new.account_id, new.operation, new.called_by, new.is_claim, new.host, new.at,
      new.body_sha256, new.entries, new.permit_id)
    is distinct from (old.call_id, old.account_id, old.operation, old.called_by, old.is_claim,
      old.host, old.at, old.body_sha256, old.entries, old.permit_id) then
    raise exception 'what was called by hand is not edited' using errcode = '23514';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_head()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the chain of account % only grows at its end', old.account_id
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_history()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '%: what was recorded is history', tg_table_name
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_instruction()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    raise exception 'an instruction begins planned or held, not %', new.state
      using errcode = 'check_violation';
  elsif tg_name = 'guard_instruction' then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  raise exception 'instruction %: no move from % to %',
    old.instruction_id, old.state, new.state using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_look()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from (select distinct pull_id, account_id from gone) as look
    join tieout.look_links using (pull_id, account_id)
  ) then
    raise exception '%: what was recorded is history', tg_table_name
      using errcode = 'check_violation';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_movement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  late record;
begin
  select p.account_id, p.posted_to into late
  from (select account_id, min(posted_to) as posted_to from posted group by account_id) p
  where p.posted_to <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.posted_to, late.account_id
      using errcode = 'check_violation';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_new_break()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a break begins open, not %', new.state using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_outcome()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.seq is null
    and to_jsonb(old) - 'seq' = to_jsonb(new) - 'seq' then
    return new;
  end if;
  raise exception 'an outcome that was told stays' using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_partition(relation text, partition text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if relation = 'verdicts' then
    return;
  end if;
  execute format('create trigger guard_history before update or truncate on tieout.%I
    for each statement execute function tieout.guard_history()', partition);
  execute format('create trigger guard_look after delete on tieout.%I
    referencing old table as gone for each statement execute function tieout.guard_look()',
    partition);
  if relation = 'pages' then
    execute format('create trigger guard_look_new after insert on tieout.%I
      referencing new table as gone for each statement execute function tieout.guard_look()',
      partition);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_payout_answer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'instruction %: what was answered is history', old.instruction_id
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_sending()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.sending <> new.sending and not exists (
    select from (values
      ('untried', 'canary'), ('untried', 'stopped'),
      ('canary', 'untried'), ('canary', 'open'), ('canary', 'stopped'),
      ('open', 'stopped'),
      ('stopped', 'untried')
    ) as sending_move (from_state, to_state)
    where sending_move.from_state = old.sending and sending_move.to_state = new.sending
  ) then
    raise exception 'sending of account %: no move from % to %',
      old.account_id, old.sending, new.sending using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.guard_settlement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '%: what the acquirer said is history', tg_table_name
    using errcode = 'check_violation';
end $function$;

CREATE OR REPLACE FUNCTION tieout.has_dispute(of_account text, of_order text, by text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from tieout.ledger_disputes() d
    where coalesce(d.stage, '') not in ('won', 'withdrawn')
      and d.account_id collate "C" = of_account and d.order_no collate "C" = of_order)
  or exists (
    select from tieout.ledger_disputes() d
    where coalesce(d.stage, '') not in ('won', 'withdrawn')
      and d.transaction_id collate "C" = by)
  or exists (
    select from tieout.not_reversed(tieout.chargebacks_about(of_account, of_order, by)))
$function$;

CREATE OR REPLACE PROCEDURE tieout.hold_run(IN run bigint, IN of_holder uuid)
 LANGUAGE plpgsql
AS $procedure$
begin
  perform from tieout.run_holders where run_id = run and holder = of_holder for key share;
  if not found then
    raise exception 'the run was taken over by another process' using errcode = 'TO001';
  end if;
end $procedure$;

CREATE OR REPLACE FUNCTION tieout.id_problem(id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when octet_length(id) > 512 then left(id, 40) || '... is longer than 512 bytes' end
$function$;

CREATE OR REPLACE FUNCTION tieout.instant_in(at text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select case when at collate "C" ~ ('^(19[7-9][0-9]|2[0-9]{3})-('
      || '(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)'
      || '|(0[13578]|1[02])-31|02-29)'
      || '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?'
      || '(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$')
    then case when substr(at, 6, 5) <> '02-29' or substr(at, 1, 4)::int % 4 = 0
        and (substr(at, 1, 4)::int % 100 <> 0 or substr(at, 1, 4)::int % 400 = 0)
      then at::timestamptz end
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.instant_in(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select at $function$;

CREATE OR REPLACE FUNCTION tieout.is_barred(refused bigint, passing text[] DEFAULT '{}'::text[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.order_no = i.order_no and other.is_open
        and other.state <> all (passing))
    or exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.transaction_id = i.transaction_id
        and other.operation = i.operation and other.operation <> 'refund' and not other.is_void
        and other.state <> all (passing))
    or exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.refund_id = i.refund_id
        and other.operation = 'refund' and not other.is_void
        and other.state <> all (passing))
  from tieout.instructions i where i.instruction_id = refused
$function$;

CREATE OR REPLACE FUNCTION tieout.is_business_date(day date, zone text, cut_off time without time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (day + 1 + cut_off) at time zone zone > (day + cut_off) at time zone zone
$function$;

CREATE OR REPLACE FUNCTION tieout.is_history(e tieout.run_accounts, live_from timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select e.merchant_id is not null and e.send_block is distinct from 'no_history'
    and (e.acted_from is not null or e.send_block is null and not exists (
      select from tieout.run_settings s
      cross join lateral jsonb_array_elements(s.settings -> 'accounts') account
      where s.run_id = e.run_id and account ->> 'accountId' = e.account_id
        and (account ->> 'liveFrom')::timestamptz > live_from))
$function$;

CREATE OR REPLACE FUNCTION tieout.is_in_books(b tieout.settlement_batches, since timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select b.last_booked_at >= since or exists (
    select from tieout.settlement_lines l
    join tieout.settlement_matches t using (settlement_line_id)
    join tieout.movements m using (movement_id)
    where l.account_id = b.account_id and l.batch = b.batch and l.settle_currency = b.currency
      and not m.is_history)
$function$;

CREATE OR REPLACE FUNCTION tieout.is_in_place_of(i tieout.instructions, other tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select i.operation = other.operation and case i.operation
    when 'payout' then i.transaction_id = other.transaction_id
      or i.payload - 'request_id' = other.payload - 'request_id' and (
        'twin_request' = i.hold_reason or 'twin_request' = any (string_to_array(i.doubled, ' '))
        or exists (select from tieout.decisions d
          where d.instruction_id = i.instruction_id and d.decision = 'approve'
            and d.row_before ->> 'hold_reason' = 'twin_request'))
    when 'refund' then i.account_id = other.account_id and i.order_no = other.order_no
      or i.refund_id = other.refund_id
        and (i.account_id = other.account_id or i.transaction_id = other.transaction_id
          or i.refund_amount = other.refund_amount)
    else i.account_id = other.account_id and i.order_no = other.order_no
      or i.transaction_id = other.transaction_id
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.is_in_time(look bigint, as_of timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select as_of <= clock_timestamp() and not exists (
    select from tieout.pulls later
    where later.pull_id > look and later.as_of < $2 - interval '1 second')
$function$;

CREATE OR REPLACE FUNCTION tieout.is_lapsed(leased_until timestamp with time zone, lease_seconds integer)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select leased_until < clock_timestamp()
    or leased_until > clock_timestamp() + make_interval(secs => lease_seconds)
$function$;

CREATE OR REPLACE FUNCTION tieout.is_of_words(k tieout.redacted_links)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from tieout.redacted_texts t
    where t.redaction_id = k.redaction_id and case k.what
      when 'decision' then t.relation = 'decisions' and exists (
        select from tieout.decisions d where d.link_id = k.link_id and d.account_id = k.account_id
          and t.key = jsonb_build_object('decision_id', d.decision_id))
      when 'instruction' then t.relation = 'instruction_events' and exists (
        select from tieout.instruction_events e join tieout.instructions i using (instruction_id)
        where e.link_id = k.link_id and i.account_id = k.account_id
          and t.key = jsonb_build_object('seq', e.seq))
      when 'break' then t.relation = 'break_events' and exists (
        select from tieout.break_events e join tieout.breaks b using (break_id)
        where e.link_id = k.link_id and b.account_id = k.account_id
          and t.key = jsonb_build_object('event_id', e.event_id))
      when 'day' then t.relation = 'day_events' and exists (
        select from tieout.day_events e where e.link_id = k.link_id and e.account_id = k.account_id
          and t.key = jsonb_build_object('event_id', e.event_id))
      when 'brake' then t.relation = 'brakes' and exists (
        select from tieout.brakes b where b.link_id = k.link_id
          and t.key = jsonb_build_object('seq', b.seq))
      -- the notices of a night repeat why somebody had stopped the sending
      when 'end' then t.relation = 'run_ends' and exists (
        select from tieout.run_ends e where e.link_id = k.link_id
          and t.key = jsonb_build_object('end_id', e.end_id))
    end)
$function$;

CREATE OR REPLACE FUNCTION tieout.is_open(state text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
RETURN (state = ANY (ARRAY['planned'::text, 'held'::text, 'queued'::text, 'sending'::text, 'accepted'::text, 'unknown'::text]));

CREATE OR REPLACE FUNCTION tieout.is_pending(i tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select i.operation = 'payout' and i.state = 'accepted'
    and coalesce(i.payout_answer ->> 'meaning' = 'pending', false)
$function$;

CREATE OR REPLACE FUNCTION tieout.is_remembered(hold_reason text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select hold_reason in ('disputed', 'over_limit_of_run', 'restored', 'second_capture',
    'twin_request')
$function$;

CREATE OR REPLACE FUNCTION tieout.is_same_person(one text, other text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select lower(regexp_replace(btrim(tieout.without_lookalikes(one)), '\s+', ' ', 'g'))
    = lower(regexp_replace(btrim(tieout.without_lookalikes(other)), '\s+', ' ', 'g'))
$function$;

CREATE OR REPLACE FUNCTION tieout.is_settlement_kind(kind text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select kind in ('not_settled', 'settled_twice', 'settled_not_captured', 'settled_unknown',
    'settlement_amount', 'fee_variance', 'charged_back')
$function$;

CREATE OR REPLACE FUNCTION tieout.is_this_base(verified_system text, database text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(split_part(verified_system, '/', 2), '')
    in ('', database, split_part(database, '.', 1))
$function$;

CREATE OR REPLACE FUNCTION tieout.is_void(state text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
RETURN (state = ANY (ARRAY['rejected'::text, 'withdrawn'::text]));

CREATE OR REPLACE FUNCTION tieout.keep_holder()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.runner_id is not distinct from old.runner_id then
    return null;
  end if;
  delete from tieout.run_holders where run_id = new.run_id;
  if new.runner_id is not null then
    insert into tieout.run_holders (run_id, holder, is_dry)
    values (new.run_id, new.runner_id, new.is_dry);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.keep_outcomes()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_nestloop TO 'off'
AS $function$
begin
  insert into tieout.outcome_rows (instruction_id, account_id, order_no, refund_id, operation,
    amount, currency, state, gateway_reference, at)
  select n.instruction_id, n.account_id, n.order_no, n.refund_id, n.operation,
    coalesce(n.refund_amount, n.amount), n.currency, n.state, n.gateway_reference,
    clock_timestamp()
  from moved n
  join stood o using (instruction_id)
  where n.state <> o.state
    and n.state in ('accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn')
  order by n.instruction_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.keep_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.is_dry then
    return null;
  end if;
  if tg_op = 'INSERT' or new.runner_id is distinct from old.runner_id and new.state = 'running' then
    insert into tieout.run_settings (run_id, settings, settings_sha256, version)
    values (new.run_id, new.settings, new.settings_sha256, new.version);
  elsif old.state = 'running' and new.state <> 'running' then
    insert into tieout.run_ends (run_id, state, failure, summary)
    values (new.run_id, new.state, new.failure, new.summary);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.keep_to_owner()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  kept text;
  role name;
begin
  foreach kept in array array['fact_sources', 'installation', 'redactions', 'redacted_texts',
    'redacted_links']
  loop
    for role in
      select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
      where c.oid = ('tieout.' || kept)::regclass and a.grantee <> c.relowner and a.grantee <> 0
    loop
      execute format('revoke insert, update, delete on tieout.%I from %I', kept, role);
      -- who seals facts marks those that have no link yet; their guard lets nothing else through
      if kept = 'redactions' and has_table_privilege(role, 'tieout.runs', 'update') then
        execute format('grant update (link_id) on tieout.redactions to %I', role);
      end if;
    end loop;
  end loop;
  -- What a night needs of the owner's rights is for whoever works nights, and for nobody else.
  for role in
    select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
    where c.oid = 'tieout.runs'::regclass and a.privilege_type = 'UPDATE'
      and a.grantee <> c.relowner and a.grantee <> 0
  loop
    execute format('grant execute on function tieout.make_month(date), tieout.drop_month(text),
      tieout.analyse(regclass, text[]) to %I', role);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tieout.kept_months(kept_from date, of_month text)
 RETURNS TABLE(month text, low bigint, high bigint, first_date date, last_date date, nights bigint, looks bigint, bytes bigint, holds text[])
 LANGUAGE sql
 STABLE
AS $function$
with month as materialized (
  select substring(c.relname from 'verdicts_(.*)') as month,
    case when c.relname = 'verdicts_before' then 0
      else tieout.month_number(to_date(right(c.relname, 7), 'YYYY_MM')) end as low,
    case when c.relname = 'verdicts_before' then tieout.month_number(date '1000-01-01')
      else tieout.month_number(
        (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month')::date) end as high
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'tieout.verdicts'::regclass
),
night as materialized (
  select distinct m.month, r.run_id, r.business_date, r.state
  from month m
  join tieout.runs r on not r.is_dry and (r.run_id >= m.low and r.run_id < m.high or exists (
    select from tieout.pulls p
    where p.run_id = r.run_id and p.pull_id >= m.low and p.pull_id < m.high))
  where of_month is null or m.month = of_month
),
span as materialized (
  select m.month, m.low, m.high, min(n.business_date) as first_date,
    max(n.business_date) as last_date, count(*) as nights, (
      select count(*) from tieout.look_links k where k.pull_id >= m.low and k.pull_id < m.high
    ) as looks, (
      select sum(pg_total_relation_size(format('tieout.%I', relation || '_' || m.month)))
      from unnest(tieout.month_relations()) as relation
    )::bigint as bytes
  from month m
  join night n using (month)
  group by m.month, m.low, m.high
),
newest as materialized (
  select distinct on (ra.account_id) ra.account_id, ra.pull_id
  from tieout.run_accounts ra
  join tieout.runs r using (run_id)
  where ra.pull_id is not null and not r.is_dry
  order by ra.account_id, ra.business_date desc
),
-- With the run that planned it, and those in which it was tried.
open_instruction as materialized (
  select instruction_id, state, run_id from tieout.instructions where is_open
  union
  select i.instruction_id, i.state, t.sending_run_id
  from tieout.instructions i
  cross join lateral tieout.attempts_of(i) t
  where i.state in ('queued', 'sending', 'accepted', 'unknown')
),
hold as (
  select month, 1 as place, 'its last date is ' || last_date || ', and all from ' || kept_from
    || ' on is kept' as reason
  from span where last_date >= kept_from
  union all
  select month, 1, 'runs of it began after ' || kept_from || ', from when on all is kept'
  from span
  where month <> 'before' and month >= to_char(kept_from, 'YYYY_MM') and last_date < kept_from
  union all
  select month, 2, 'the run of ' || min(business_date) || ' is being worked on'
  from night where state = 'running' group by month
  union all
  select s.month, 3, 'account ' || min(n.account_id) || ' was not checked since'
  from span s join newest n on n.pull_id >= s.low and n.pull_id < s.high group by s.month
  union all
  select n.month, 4, count(distinct p.pull_id) || ' of its looks are not sealed yet'
  from night n
  join tieout.pulls p on p.run_id = n.run_id
  -- The limit keeps this a look-up in one partition: joined as a whole, all snapshots would be
  -- read.
  cross join lateral (
    select from tieout.asked_orders a where a.pull_id = p.pull_id limit 1
  ) asked
  where not p.is_sealed
  group by n.month
  union all
  select n.month, 5, 'breaks not resolved began in it: ' || count(distinct b.break_id)
    || ', one is ' || min(b.kind || ' of ' || b.account_id || ' ' || b.order_no)
  from tieout.breaks b
  join tieout.break_events e using (break_id)
  join night n on n.run_id = e.run_id
  where b.state <> 'resolved'
  group by n.month
  union all
  select n.month, 6, 'instructions of it are not finished: ' || count(distinct i.instruction_id)
    || ', one is #' || min(i.instruction_id)
  from open_instruction i
  join night n using (run_id)
  group by n.month
  union all
  select n.month, 7, 'a day that was closed is not locked: ' || min(d.account_id || ' '
    || d.business_date)
  from (select distinct account_id, business_date from tieout.day_events) d
  join night n using (business_date)
  where tieout.day_state(d.account_id, d.business_date) <> 'locked'
  group by n.month
)
select s.month, s.low, s.high, s.first_date, s.last_date, s.nights,
  s.looks, s.bytes,
  array(select reason from hold h where h.month = s.month order by place) as holds
from span s
order by s.first_date
$function$;

CREATE OR REPLACE FUNCTION tieout.kept_totals(accounts text[])
 RETURNS TABLE(account_id text, first_date date)
 LANGUAGE sql
 STABLE
AS $function$
  select newest.account_id, min(f.business_date)
  from (
    select distinct on (ra.account_id) ra.account_id, ra.run_id
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = any (coalesce(accounts, array(
        select own.account_id from tieout.run_accounts own
        where own.merchant_id is not null and own.run_id = (
          select last.run_id from tieout.runs last
          where not last.is_dry order by last.business_date desc limit 1))))
      and ra.pull_id is not null
      and not r.is_dry
    order by ra.account_id, ra.business_date desc) newest
  join tieout.feed_checks f on f.run_id = newest.run_id and f.account_id = newest.account_id
  where f.verdict <> 'unusable'
  group by newest.account_id
$function$;

CREATE OR REPLACE FUNCTION tieout.known_disputes()
 RETURNS TABLE(account_id text, order_no text, transaction_id text, dispute_id text, batch text, stage text, currency text, amount numeric, at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select d.account_id, d.order_no, d.transaction_id, d.dispute_id, null::text, d.stage, d.currency,
    d.amount, d.at, d.problem
  from tieout.ledger_disputes() d
  union all
  select l.account_id, l.order_no, l.transaction_id, l.line_id, l.batch, l.type, l.currency,
    l.amount, l.booked_at, null
  from tieout.settlement_lines l
  where l.type in ('chargeback', 'chargeback_reversed')
$function$;

CREATE OR REPLACE FUNCTION tieout.known_to_book(account text, "order" text, before_run bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from tieout.movements m
    where m.account_id = account and m.order_no = "order" and m.run_id < before_run)
  or exists (
    select from (
      select l.pull_id
      from tieout.movement_books b
      join tieout.run_accounts l on l.account_id = b.account_id and l.run_id >= b.run_id
      where b.account_id = account and l.run_id < before_run and l.pull_id is not null
        and not (select r.is_dry from tieout.runs r where r.run_id = l.run_id)
      order by l.business_date desc limit 7
    ) look
    where exists (
      select from tieout.look_entries e
      where e.pull_id = look.pull_id and e.account_id = account and e.order_no = "order"
        and not e.is_extra)
    or (
      select g.state = 'answered'
      from tieout.asked_orders q
      join tieout.pages g using (pull_id, account_id, page_no)
      where q.pull_id = look.pull_id and q.account_id = account and q.order_no = "order"))
$function$;

CREATE OR REPLACE FUNCTION tieout.knows_permit(permit uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (select from tieout.attempts where attempt_id = permit)
    or exists (select from tieout.gateway_calls where permit_id = permit)
$function$;

CREATE OR REPLACE FUNCTION tieout.last_ended_date(at timestamp with time zone, zone text, cut_off time without time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when tieout.day_end(((at at time zone zone) - cut_off)::date - 1, zone, cut_off) <= at
      and tieout.is_business_date(((at at time zone zone) - cut_off)::date - 1, zone, cut_off)
    then ((at at time zone zone) - cut_off)::date - 1
    else ((at at time zone zone) - cut_off)::date - 2 end
$function$;

CREATE OR REPLACE FUNCTION tieout.leaves_a_place(i tieout.instructions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select i.operation = 'refund' and i.replan_id is null
    and case i.state
      when 'rejected' then exists (
        select from tieout.decisions d
        where d.instruction_id = i.instruction_id and d.finding = 'not_happened')
      when 'withdrawn' then exists (
        select from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.to_state = 'held'
          and e.reason = 'restored')
      else false end
    and not exists (
      select from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
        and r.order_no collate "C" = i.order_no)
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_disputes()
 RETURNS TABLE(account_id text, dispute_id text, order_no text, transaction_id text, currency text, amount numeric, stage text, at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select d.account_id, d.dispute_id, d.order_no, nullif(d.transaction_id, ''),
    left(d.currency, 16), tieout.usable_amount(d.amount), left(d.stage, 32),
    tieout.usable_instant(d.at),
    case
      when coalesce(d.dispute_id, '') = '' then 'it has no dispute_id'
      when tieout.id_problem(d.dispute_id) is not null
        then 'its dispute_id ' || tieout.id_problem(d.dispute_id)
      when coalesce(d.order_no, d.transaction_id, '') = ''
        then 'it names neither an order nor a transaction'
      when d.stage is null or d.stage not in ('opened', 'won', 'lost', 'withdrawn')
        then 'its stage is none of opened, won, lost, withdrawn'
          || coalesce(': ' || left(d.stage, 32), '')
      when d.amount is null or not (d.amount > 0 and d.amount < 1e18)
        or d.amount <> round(d.amount, 2)
        then 'its amount ' || tieout.amount_problem(d.amount, d.amount_text)
      when tieout.usable_instant(d.at) is null
        then coalesce('its at ' || left(d.at_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no at')
    end
  from (
    select q.account_id::text collate "C" as account_id,
      q.dispute_id::text collate "C" as dispute_id,
      q.order_no::text collate "C" as order_no,
      q.transaction_id::text collate "C" as transaction_id,
      q.currency::text collate "default" as currency,
      tieout.amount_in(q.amount) as amount,
      q.amount::text as amount_text,
      q.stage::text collate "default" as stage,
      tieout.instant_in(q.at) as at, q.at::text as at_text
    from ledger.disputes q
  ) d
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_orders(currencies text[], coarse jsonb, separator text)
 RETURNS TABLE(account_id text, order_no text, currency text, amount numeric, expected text, transaction_id text, capture_amount numeric, review_decision text, placed_at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select l.account_id, l.order_no, left(l.currency, 16), tieout.usable_amount(l.amount),
    left(l.expected, 32),
    case when octet_length(l.transaction_id) <= 512 then nullif(l.transaction_id, '') end,
    tieout.usable_amount(l.capture_amount), left(l.review_decision, 16),
    tieout.placed_instant(l.placed_at),
    case
      when separator <> '' and (l.order_no = '' or position(separator in l.order_no) > 0)
        then 'its number cannot be asked for: it is empty or contains "' || separator
          || '" (query.orderList.separator of the profile)'
      when l.amount is null or not (l.amount > 0 and l.amount < 1e18)
        or l.amount <> round(l.amount, 2)
        then 'its amount ' || tieout.amount_problem(l.amount, l.amount_text)
      when l.currency is null or not l.currency = any (currencies)
        then 'its currency is unknown, or has more than two decimals and is not in the profile'
          || coalesce(': ' || left(l.currency, 16), '')
      when tieout.too_fine(min_scale(l.amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.amount), l.currency, coarse) || ', and its amount is '
          || l.amount
      when l.expected is null
        or l.expected not in ('authorised', 'captured', 'cancelled', 'declined')
        then 'what it expects is no known state' || coalesce(': ' || left(l.expected, 32), '')
      when not coalesce(l.capture_amount > 0 and l.capture_amount <= l.amount
        and l.capture_amount = round(l.capture_amount, 2), true)
        then 'its capture_amount ' || left(l.capture_text, 40) || ' is not within its amount'
      when tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse)
          || ', and its capture_amount is ' || l.capture_amount
      when l.review_decision not in ('accept', 'reject')
        then 'its review_decision is neither accept nor reject: '
          || coalesce(nullif(left(l.review_decision, 16), ''), 'it is an empty text')
      when tieout.id_problem(l.transaction_id) is not null
        then 'its transaction_id ' || tieout.id_problem(l.transaction_id)
      when tieout.usable_instant(l.placed_at) is not null
        and tieout.placed_instant(l.placed_at) is null
        then 'its placed_at ' || left(l.placed_text, 40) || ' lies more than a day ahead'
      when tieout.usable_instant(l.placed_at) is null
        then coalesce('its placed_at ' || left(l.placed_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no placed_at')
    end
  from (
    select o.account_id::text collate "C" as account_id,
      o.order_no::text collate "C" as order_no,
      o.currency::text collate "default" as currency, tieout.amount_in(o.amount) as amount,
      o.amount::text as amount_text,
      o.expected::text collate "default" as expected,
      o.transaction_id::text collate "C" as transaction_id,
      tieout.amount_in(o.capture_amount) as capture_amount, o.capture_amount::text as capture_text,
      o.review_decision::text collate "default" as review_decision,
      tieout.instant_in(o.placed_at) as placed_at, o.placed_at::text as placed_text
    from ledger.orders o
  ) l
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_payouts()
 RETURNS TABLE(account_id text, request_id text, payload jsonb, requested_at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE
AS $function$
  select p.account_id, p.request_id, tieout.payout_payload(p.payload),
    tieout.usable_instant(p.requested_at),
    case when p.request_id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'its request_id is no UUID'
      else coalesce(tieout.payout_problem(p.payload, p.requested_at), case
        when tieout.placed_instant(p.requested_at) is null
        then 'its requested_at lies more than a day ahead' end) end
  from (
    select q.account_id::text collate "C" as account_id,
      lower(q.request_id::text collate "C") as request_id,
      tieout.payload_in(q.payload) as payload,
      tieout.instant_in(q.requested_at) as requested_at
    from ledger.payout_requests q
  ) p
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_refunds()
 RETURNS TABLE(account_id text, refund_id text, order_no text, refund_amount numeric, reason text, requested_by text, requested_at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select r.account_id, r.refund_id, r.order_no, tieout.usable_amount(r.refund_amount), r.reason,
    r.requested_by, tieout.usable_instant(r.requested_at),
    case
      when coalesce(r.refund_id, '') = '' then 'a refund request of it has no refund_id'
      when tieout.id_problem(r.refund_id) is not null
        then 'the refund_id of a request of it ' || tieout.id_problem(r.refund_id)
      when r.refund_amount is null or not (r.refund_amount > 0 and r.refund_amount < 1e18)
        or r.refund_amount <> round(r.refund_amount, 2)
        then 'its refund request ' || left(r.refund_id, 64) || ': the amount '
          || tieout.amount_problem(r.refund_amount, r.amount_text)
      when tieout.usable_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64)
          || coalesce(': requested_at ' || left(r.requested_text, 40)
            || ' is no time with a zone within the years 1970 to 2999', ' has no requested_at')
      when tieout.placed_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64) || ': requested_at '
          || left(r.requested_text, 40) || ' lies more than a day ahead'
      when length(r.reason) > 1000 or length(r.requested_by) > 1000
        then 'its refund request ' || left(r.refund_id, 64)
          || ': reason or requested_by is longer than 1,000 characters'
    end
  from (
    select q.account_id::text collate "C" as account_id,
      q.refund_id::text collate "C" as refund_id,
      q.order_no::text collate "C" as order_no,
      tieout.amount_in(q.refund_amount) as refund_amount,
      q.refund_amount::text as amount_text,
      q.reason::text collate "default" as reason,
      q.requested_by::text collate "default" as requested_by,
      tieout.instant_in(q.requested_at) as requested_at,
      q.requested_at::text as requested_text
    from ledger.refund_requests q
  ) r
$function$;

CREATE OR REPLACE FUNCTION tieout.lines_of_movement(of_movement bigint)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select settlement_line_id from tieout.settlement_matches
  where movement_id = of_movement and by <> 'transaction'
  union all
  select settlement_line_id from tieout.settlement_unmatched where told_of = of_movement
  union all
  select l.settlement_line_id
  from tieout.movements m
  join tieout.settlement_lines l on l.account_id = m.account_id
    and l.transaction_id = m.transaction_id
  -- The offset keeps this a look into the index: joined, all matches would be read.
  cross join lateral (
    select movement_id, by from tieout.settlement_matches
    where settlement_line_id = l.settlement_line_id offset 0
  ) t
  where m.movement_id = of_movement and t.movement_id = of_movement and t.by = 'transaction'
$function$;

CREATE OR REPLACE FUNCTION tieout.link_facts(link bigint, link_what text, account text)
 RETURNS TABLE(facts bigint, facts_sha256 text)
 LANGUAGE sql
 STABLE
AS $function$
  select count(*), tieout.fact_digest(convert_to(
    coalesce(string_agg(line || E'\n', '' order by pos, line collate "C"), ''), 'UTF8'))
  from tieout.facts f
  where f.link_id = link and f.what = link_what and f.account_id = account
$function$;

CREATE OR REPLACE FUNCTION tieout.link_sha256(l tieout.chain_links)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select tieout.fact_digest(convert_to(concat_ws(E'\n', l.account_id, l.link_no,
    to_char(l.business_date, 'YYYY-MM-DD'), l.what, l.facts, l.facts_sha256, l.previous_sha256)
    || E'\n', 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION tieout.look_facts(bigint, text)
 RETURNS TABLE(pos bigint, line text)
 LANGUAGE sql
 STABLE
AS $function$
  with asked as (
    select page_no, count(*) as orders, tieout.fact_digest(convert_to(string_agg(
      row(order_no, in_ledger, currency, amount, expected, transaction_id, capture_amount,
        review_decision, extract(epoch from placed_at), ledger_problem)::text || E'\n', ''
      order by order_no), 'UTF8')) as digest
    from tieout.asked_orders where pull_id = $1 and account_id = $2
    group by page_no
  ),
  refund as (
    select count(*) as refunds, tieout.fact_digest(convert_to(string_agg(
      row(order_no, refund_id, refund_amount, extract(epoch from requested_at))::text || E'\n', ''
      order by refund_id, order_no), 'UTF8')) as digest
    from tieout.asked_refunds where pull_id = $1 and account_id = $2
  )
  select coalesce(p.page_no, a.page_no, -1)::bigint,
    row(coalesce(p.page_no, a.page_no), p.state, p.stands_for_walk, p.orders, p.entries, p.unasked,
      p.attempts, p.reason, extract(epoch from p.answered_at), encode(p.body_sha256, 'hex'),
      tieout.fact_digest(p.body_gzip), a.orders, a.digest)::text
  from (select * from tieout.pages where pull_id = $1 and account_id = $2) p
  full join asked a on a.page_no = p.page_no
  union all
  select -2, row('refunds', refunds, digest)::text from refund
$function$;

CREATE OR REPLACE FUNCTION tieout.looks_drawn()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select last_value from tieout.pulls_pull_id_seq
$function$;

CREATE OR REPLACE FUNCTION tieout.lost_twins(payouts jsonb, now timestamp with time zone)
 RETURNS TABLE(account_id text, request_id text)
 LANGUAGE sql
 STABLE
AS $function$
  with payout as materialized (
    select p.account_id, p.request_id, p.currency, p.amount,
      tieout.amount_in(p.payload ->> 'payment_amount') as typed
    from jsonb_to_recordset(payouts) as p (
      account_id text, request_id text, currency text, amount numeric, payload jsonb)
  ),
  stray as materialized (
    select l.money, l.currency, max(l.found_at) as found_at
    from tieout.stray_payouts(array(
      select amount from payout union select typed from payout)) l
    group by l.money, l.currency
  )
  select p.account_id, p.request_id
  from payout p
  left join stray l on l.money = p.amount and l.currency = p.currency
  left join stray t on t.money = p.typed and t.currency = p.currency
  where case when num_nonnulls(l.found_at, t.found_at) > 0
    then tieout.came_by(greatest(l.found_at, t.found_at), p.account_id, p.request_id, now) end
$function$;

CREATE OR REPLACE FUNCTION tieout.made_or_sent(by_run bigint)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  select instruction_id from tieout.instructions where run_id = by_run
  union
  select i.instruction_id
  from tieout.attempts t
  join tieout.instructions i on i.batch_id = t.batch_id
  where t.sending_run_id = by_run
$function$;

CREATE OR REPLACE FUNCTION tieout.make_month(day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  suffix text := to_char(day, '"_"YYYY"_"MM');
  relation text;
begin
  if to_regclass('tieout.verdicts' || suffix) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('tieout.make_month'));
  -- Asked of the table itself: what a session remembers of names does not know yet what another
  -- has made while this one waited.
  if exists (select from pg_class
    where relnamespace = 'tieout'::regnamespace and relname = 'verdicts' || suffix) then
    return;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('create table tieout.%I (like tieout.%I including all)',
      relation || suffix, relation);
    execute format('alter table tieout.%I attach partition tieout.%I for values from (%s) to (%s)',
      relation, relation || suffix, tieout.month_number(day),
      tieout.month_number((day + interval '1 month')::date));
    perform tieout.guard_partition(relation, relation || suffix);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tieout.month_number(day date)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select to_char(day, 'YYYYMM')::bigint * 100000000
$function$;

CREATE OR REPLACE FUNCTION tieout.month_relations()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array['asked_orders', 'asked_refunds', 'look_entries', 'pages', 'verdicts']
$function$;

CREATE OR REPLACE FUNCTION tieout.moved_after(run bigint, account text)
 RETURNS TABLE(order_no text, operation text, currency text, amount numeric, belongs_to date, counts_on date, posted_at timestamp with time zone)
 LANGUAGE sql
 STABLE ROWS 100
AS $function$
  with night as materialized (
    select r.business_date, ra.pull_id, p.as_of,
      case when r.state = 'running' then 'infinity'
        else coalesce(r.finished_at, 'infinity') end as until
    from tieout.runs r
    join tieout.run_accounts ra using (run_id)
    join tieout.pulls p on p.pull_id = ra.pull_id
    where r.run_id = run and ra.account_id = account and not r.is_dry
  ),
  own as materialized (
    select p.pull_id from tieout.pulls p cross join night n
    where p.run_id = run
      and (p.pull_id = n.pull_id or p.pull_id > n.pull_id and p.kind = 'confirm')
  )
  select m.order_no, m.operation, m.currency, m.amount, m.belongs_to, m.posted_to, m.posted_at
  from night n
  -- What the night plainly matched has no verdict, and nothing under way. The offsets keep these
  -- one walk of an index each.
  cross join lateral (
    select d.order_no from tieout.verdicts d
    where d.run_id = run and d.account_id = account
    offset 0
  ) v
  cross join lateral (
    select o.instruction_id, o.transaction_id, o.settled_at from tieout.instructions o
    where o.account_id = account and o.order_no = v.order_no
      and o.operation in ('capture', 'refund') and o.state = 'confirmed'
      and o.settled_at > n.as_of
    offset 0
  ) i
  cross join lateral (
    select * from tieout.day_movements d
    where d.instruction_id = i.instruction_id and d.belongs_to <= n.business_date
    offset 0
  ) m
  where not exists (
    select from own p
    cross join lateral (
      select e.state from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = account and e.order_no = m.order_no
        and not e.is_extra and e.transaction_id = i.transaction_id
      union all
      select e.state from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = account and e.order_no = m.order_no
        and e.is_extra and e.transaction_id = i.transaction_id
    ) e
    where e.state = 'refunded'
      or m.operation = 'capture' and e.state in ('captured', 'partially_refunded')
      -- `done` of tieout.seen_orders has it
      or m.operation = 'refund' and e.state = 'partially_refunded' and i.settled_at <= n.until
  )
$function$;

CREATE OR REPLACE FUNCTION tieout.movements_told_of()
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
AS $function$
  select array(
    select movement_id from tieout.settlement_matches where differs
    union select movement_id from tieout.movement_amounts
    union select told_of from tieout.settlement_unmatched where told_of is not null)
$function$;

CREATE OR REPLACE FUNCTION tieout.newest_date(accounts text[], day date)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select greatest((
    select max(ra.business_date)
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = any (accounts) and ra.merchant_id is not null and not r.is_dry
  ), (
    select max(ra.business_date)
    from tieout.run_accounts of_day join tieout.runs o using (run_id)
    join tieout.run_accounts ra on ra.account_id = of_day.account_id
    join tieout.runs r on r.run_id = ra.run_id
    where o.business_date = day and not o.is_dry and not r.is_dry
      -- one that left stands in the books of each night
      and of_day.merchant_id is not null and ra.merchant_id is not null))
$function$;

CREATE OR REPLACE FUNCTION tieout.newest_decisions(instructions bigint[])
 RETURNS SETOF tieout.decisions
 LANGUAGE sql
 STABLE
AS $function$
  select distinct on (d.instruction_id) d.* from tieout.decisions d
  where d.instruction_id = any (instructions) order by d.instruction_id, d.decision_id desc
$function$;

CREATE OR REPLACE FUNCTION tieout.newest_look(account text, "order" text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select p.pull_id
  from tieout.pulls p
  where not (select r.is_dry from tieout.runs r where r.run_id = p.run_id)
    and (select g.state = 'answered'
      from tieout.asked_orders a
      join tieout.pages g
        on g.pull_id = a.pull_id and g.account_id = a.account_id and g.page_no = a.page_no
      where a.pull_id = p.pull_id and a.account_id = account and a.order_no = "order")
  order by p.pull_id desc limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.next_number(month bigint, newest bigint, drawn bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  first bigint := greatest(month, newest - newest % 100000000);
begin
  -- Numbers from before they bore a month are of none.
  if first >= tieout.month_number(date '1000-01-01') then
    perform tieout.make_month(to_date((first / 100000000)::text, 'YYYYMM'));
  end if;
  return first + drawn;
end $function$;

CREATE OR REPLACE FUNCTION tieout.not_reversed(of_lines bigint[])
 RETURNS TABLE(account_id text, place text, currency text, amount numeric, batches text, lines bigint, order_nos text[], transaction_ids text[])
 LANGUAGE sql
 STABLE
AS $function$
  select account_id, (array_agg(place order by settlement_line_id))[1], currency, sum(amount),
    string_agg(distinct batch, ', '), count(*),
    array_agg(distinct order_no) filter (where order_no is not null),
    array_agg(distinct transaction_id) filter (where transaction_id is not null)
  from (
    select l.*, p.place, l.transaction_id is not null and l.order_no is null
        and p.place = 'batch ' || l.batch as is_apart
    from tieout.settlement_lines l
    cross join lateral (select tieout.place_of_line(l) as place offset 0) p
    where l.settlement_line_id = any (of_lines)
      and l.type in ('chargeback', 'chargeback_reversed')
  ) line
  group by account_id, currency, case when not is_apart then place end,
    case when is_apart then transaction_id end
  having sum(amount) < 0
$function$;

CREATE OR REPLACE FUNCTION tieout.number_look()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.pull_id := tieout.next_number(new.run_id - new.run_id % 100000000,
    (select max(pull_id) from tieout.pulls), new.pull_id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.number_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.run_id := tieout.next_number(
    tieout.month_number((new.created_at at time zone 'UTC')::date),
    (select max(run_id) from tieout.runs), new.run_id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.open_as_of(run bigint)
 RETURNS TABLE(account_id text, order_no text, kind text, first_seen timestamp with time zone, owner text, note text, expected jsonb, actual jsonb, currency text, stake text)
 LANGUAGE sql
 STABLE
AS $function$
  with latest as (
    select distinct on (b.break_id) b.account_id, b.order_no, b.kind, b.first_seen, b.owner, b.note,
      e.event, e.expected, e.actual, e.currency, e.amount
    from tieout.run_accounts a
    join tieout.breaks b using (account_id)
    join tieout.break_events e on e.break_id = b.break_id
      and (a.events_until is null or e.event_id <= a.events_until)
    where a.run_id = run and e.event in ('opened', 'reopened', 'resolved', 'waived')
    order by b.break_id, e.event_id desc
  )
  select account_id, order_no, kind, first_seen, owner, note, expected, actual, currency,
    amount::text as stake
  from latest where event in ('opened', 'reopened')
  order by first_seen, account_id, order_no, kind
$function$;

CREATE OR REPLACE FUNCTION tieout.open_authorisations(rules jsonb, is_all boolean, until date)
 RETURNS TABLE(account_id text, order_no text, transaction_id text, currency text, amount numeric, since timestamp with time zone, lapses_at timestamp with time zone, warn_until timestamp with time zone, expected text, seen_at timestamp with time zone, is_gap boolean)
 LANGUAGE sql
 STABLE
AS $function$
  with recursive account as (
    select r.account_id collate "C" as account_id, r.warn_until,
      make_interval(hours => r.valid_hours) as valid_for
    from jsonb_to_recordset(rules)
      as r (account_id text, valid_hours int, warn_until timestamptz)
  ),
  look as (
    select a.account_id, 1 as nth, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from account a cross join lateral tieout.finished_look(a.account_id, until + 1) l
    union all
    select look.account_id, look.nth + 1, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from look cross join lateral tieout.finished_look(look.account_id, look.business_date) l
    where look.has_gap and look.nth < 40
  ),
  later as materialized (
    select distinct on (again.account_id, again.order_no) again.account_id, again.order_no,
      again.pull_id, p.as_of
    from look
    join tieout.pulls p on p.pull_id > look.pull_id and p.finished_at is not null
      and (until is null and p.run_id >= look.run_id and p.kind in ('confirm', 'fresh')
        or p.run_id = look.run_id and p.kind = 'confirm')
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select e.account_id, e.order_no, e.pull_id from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = look.account_id and not e.is_extra
      offset 0
    ) again
    where look.nth = 1
    order by again.account_id, again.order_no, again.pull_id desc
  ),
  -- Orders of pages that the newest snapshot has no answer for: earlier ones are asked about these.
  -- The pages are hashed, and the orders of the snapshot walked once, however many pages failed.
  failed_page as materialized (
    select p.account_id, p.page_no
    from look
    join tieout.pages p on p.pull_id = look.pull_id and p.account_id = look.account_id
      and p.state = 'failed'
    where look.nth = 1 and look.has_gap
  ),
  unanswered as materialized (
    select q.account_id, q.order_no
    from look
    cross join lateral (
      select asked.account_id, asked.order_no from tieout.asked_orders asked
      where asked.pull_id = look.pull_id and asked.account_id = look.account_id
        and (asked.account_id, asked.page_no) in (select account_id, page_no from failed_page)
      offset 0
    ) q
    where look.nth = 1 and look.has_gap
  ),
  entry as (
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from look
    join account a using (account_id)
    cross join lateral (
      select dated.pull_id, dated.account_id, dated.order_no, dated.transaction_id, dated.currency,
        dated.amount, dated.transaction_at
      from tieout.look_entries dated
      where dated.pull_id = look.pull_id and dated.account_id = look.account_id
        and dated.state = 'authorised' and dated.found
        and dated.transaction_at <= case when is_all then 'infinity'
          else a.warn_until - a.valid_for end
      union all
      select undated.pull_id, undated.account_id, undated.order_no, undated.transaction_id,
        undated.currency, undated.amount, undated.transaction_at
      from tieout.look_entries undated
      where undated.pull_id = look.pull_id and undated.account_id = look.account_id
        and undated.state = 'authorised' and undated.found and undated.transaction_at is null
        and (is_all or a.valid_for is not null)
      offset 0
    ) e
    where look.nth = 1
    union all
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from unanswered u
    join look on look.account_id = u.account_id and look.nth > 1
    join account a on a.account_id = u.account_id
    cross join lateral (
      select gap.pull_id, gap.account_id, gap.order_no, gap.transaction_id, gap.currency,
        gap.amount, gap.transaction_at
      from tieout.look_entries gap
      where gap.pull_id = look.pull_id and gap.account_id = u.account_id
        and gap.order_no = u.order_no and gap.state = 'authorised' and gap.found
        -- each half has an index of its own
        and (gap.is_extra or not gap.is_extra)
      offset 0
    ) e
    where is_all or a.valid_for is not null
  ),
  found as (
    select distinct on (e.account_id, e.order_no, coalesce(e.transaction_id, '')) e.*,
      o.expected, coalesce(e.transaction_at, o.placed_at) as since
    from entry e
    left join lateral (
      select asked.expected, asked.placed_at from tieout.asked_orders asked
      where asked.pull_id = e.pull_id and asked.account_id = e.account_id
        and asked.order_no = e.order_no
      offset 0
    ) o on true
    left join later on later.account_id = e.account_id and later.order_no = e.order_no
    where (later.pull_id is null or exists (
        select from tieout.look_entries x
        where x.pull_id = later.pull_id and x.account_id = e.account_id
          and x.order_no = e.order_no and x.transaction_id is not distinct from e.transaction_id
          -- each half has an index of its own
          and (x.is_extra or not x.is_extra) and x.state = 'authorised'))
      and (e.nth = 1 or not exists (
        select from look newer
        join tieout.asked_orders q on q.pull_id = newer.pull_id
          and q.account_id = newer.account_id and q.order_no = e.order_no
        join tieout.pages p on p.pull_id = q.pull_id and p.account_id = q.account_id
          and p.page_no = q.page_no and p.state = 'answered'
        where newer.account_id = e.account_id and newer.nth < e.nth))
      -- taken since, or let go, as a person found or `tieout send` saw: what a night saw stays
      and (until is not null or not exists (
        select from tieout.instructions i
        where i.account_id = e.account_id and i.order_no = e.order_no
          and i.transaction_id = e.transaction_id and i.operation in ('capture', 'cancel')
          and i.state = 'confirmed' and i.settled_at > coalesce(later.as_of, e.as_of)))
    order by e.account_id, e.order_no, coalesce(e.transaction_id, ''), e.nth
  )
  select f.account_id, f.order_no, f.transaction_id, f.currency, f.amount, f.since,
    f.since + f.valid_for as lapses_at, f.warn_until, f.expected, f.as_of as seen_at,
    f.nth > 1 as is_gap
  from found f
  where (f.expected is null or f.expected not in ('cancelled', 'declined'))
    and (is_all or f.since is null or f.since + f.valid_for <= f.warn_until)
$function$;

CREATE OR REPLACE FUNCTION tieout.outcomes_known()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select greatest(0, (select max(seq) from tieout.outcome_rows),
    (select max((found -> 'putBack' ->> 'outcomesUpTo')::bigint) from tieout.put_backs))
$function$;

CREATE OR REPLACE FUNCTION tieout.payee(i tieout.instructions)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('account', tieout.payee_account(p.payload, true),
    'holder', left(nullif(p.payload #>> '{beneficiary,bank_details,account_name}', ''), 200),
    'isKnown', case when tieout.payee_key(p.payload) is not null then exists (
      select from tieout.instructions other
      where other.operation = 'payout' and other.state = 'confirmed'
        and other.account_id = i.account_id
        and tieout.payee_key(other.payload) = tieout.payee_key(p.payload)) end)
  from tieout.payout_asked(i) as p (payload)
  where i.operation = 'payout'
$function$;

CREATE OR REPLACE FUNCTION tieout.payee_account(payload jsonb, is_whole boolean)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select nullif(concat_ws(', ', 'IBAN ' || case when is_whole then a.iban
      else left(a.iban, 2) || '...' || right(a.iban, least(4, length(a.iban) / 3)) end,
    'account ' || case when is_whole then a.account
      else '...' || right(a.account, least(4, length(a.account) / 3)) end), '')
  from (select
    nullif(left(regexp_replace(payload #>> '{beneficiary,bank_details,iban}',
      '\s', '', 'g'), 100), '') as iban,
    nullif(left(regexp_replace(payload #>> '{beneficiary,bank_details,account_number}',
      '\s', '', 'g'), 100), '') as account) a
$function$;

CREATE OR REPLACE FUNCTION tieout.payee_bank(payload jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select nullif(left(concat_ws(' ', nullif(b.bank ->> 'swift_code', ''),
    nullif(b.bank ->> 'bank_code', ''), nullif(b.bank ->> 'bank_branch', ''),
    nullif(b.bank ->> 'bank_name', ''), nullif(b.bank ->> 'bank_country_code', '')), 200), '')
  from (select payload #> '{beneficiary,bank_details}' as bank) b
$function$;

CREATE OR REPLACE FUNCTION tieout.payee_key(payload jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when tieout.payee_account(payload, true) is not null
      or nullif(payload ->> 'beneficiary_id', '') is not null
    then encode(sha256(convert_to(upper(jsonb_build_array(
      tieout.payee_account(payload, true), payload #>> '{beneficiary,bank_details,swift_code}',
      payload #>> '{beneficiary,bank_details,bank_code}', payload ->> 'beneficiary_id')::text),
      'UTF8')), 'hex') end
$function$;

CREATE OR REPLACE FUNCTION tieout.payload_in(payload json)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$ select tieout.payload_in(payload::text) $function$;

CREATE OR REPLACE FUNCTION tieout.payload_in(payload jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select payload $function$;

CREATE OR REPLACE FUNCTION tieout.payload_in(payload text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return payload::jsonb;
exception when data_exception or program_limit_exceeded then
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION tieout.payout_asked(i tieout.instructions)
 RETURNS SETOF jsonb
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  -- what the ledger asks for now; a view may have it twice
  select p.payload from tieout.ledger_payouts() p
  where p.account_id collate "C" = i.account_id
    and p.request_id collate "C" = i.transaction_id
  order by p.requested_at limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.payout_payload(payload jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when jsonb_typeof(payload) = 'object' and octet_length(payload::text) <= 65536
      and not jsonb_path_exists(payload, '$.**{33}') then payload
    else jsonb_build_object('unusable', md5(coalesce(payload::text, ''))) end
$function$;

CREATE OR REPLACE FUNCTION tieout.payout_problem(payload jsonb, requested_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when payload is null or jsonb_typeof(payload) <> 'object'
      then 'its payload is not the JSON of one object'
    when octet_length(payload::text) > 65536 then 'its payload is larger than 64 KB'
    when jsonb_path_exists(payload, '$.**{33}')
      then 'its payload is nested deeper than 32 levels'
    when requested_at is null then 'it has no requested_at'
    when tieout.usable_instant(requested_at) is null
      then 'its requested_at is not within the years 1970 to 2999'
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.payout_terms(payload jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select jsonb_strip_nulls(jsonb_build_object('account', tieout.payee_account(payload, false),
    'bank', tieout.payee_bank(payload), 'sourceAmount', nullif(payload ->> 'source_amount', ''),
    'sourceCurrency', nullif(payload ->> 'source_currency', ''),
    'method', nullif(payload ->> 'payment_method', ''),
    'feePaidBy', nullif(payload ->> 'fee_paid_by', '')))
$function$;

CREATE OR REPLACE FUNCTION tieout.place_of_line(line tieout.settlement_lines)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    (select m.order_no from tieout.settlement_matches t join tieout.movements m using (movement_id)
      where t.settlement_line_id = line.settlement_line_id),
    (select min(m.order_no) from tieout.movements m
      where m.account_id = line.account_id and m.transaction_id = line.transaction_id),
    (select min(i.order_no) from tieout.instructions i
      where i.account_id = line.account_id and i.transaction_id = line.transaction_id
        and i.operation <> 'payout' and not i.is_void),
    line.order_no,
    'batch ' || line.batch)
$function$;

CREATE OR REPLACE FUNCTION tieout.placed_instant(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select case when at <= now() + interval '1 day' then tieout.usable_instant(at) end
$function$;

CREATE OR REPLACE FUNCTION tieout.plain_id(id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select lower(regexp_replace(tieout.without_lookalikes(id),
    case when getdatabaseencoding() = 'UTF8' then '[\s\u0085\u1680\u2028\u2029]+' else '\s+' end,
    '', 'g'))
$function$;

CREATE OR REPLACE FUNCTION tieout.publish_outcomes()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  published bigint;
begin
  perform pg_advisory_xact_lock(hashtext('tieout.outcomes'));
  update tieout.outcome_rows o set seq = next.seq
  from (
    select outcome_id, (select tieout.outcomes_known())
      + row_number() over (order by outcome_id) as seq
    from tieout.outcome_rows where seq is null
  ) next
  where o.outcome_id = next.outcome_id;
  get diagnostics published = row_count;
  return published;
end $function$;

CREATE OR REPLACE FUNCTION tieout.put_back_seen(i tieout.instructions)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when b.at is null then '{}'::jsonb else jsonb_build_object('putBack',
    jsonb_build_object('at', b.at at time zone 'UTC', 'lost', (
      select max(l.found_at) at time zone 'UTC' from tieout.lost_permits l
      where l.transaction_id = i.transaction_id or l.account_id = i.account_id
        and (l.order_no = i.order_no or l.refund_id = i.refund_id)))) end
  from (select max(at) as at from tieout.put_backs) b
$function$;

CREATE OR REPLACE FUNCTION tieout.record_instruction()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_nestloop TO 'off'
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select instruction_id, null, state, changed_by, hold_reason
    from moved order by instruction_id;
  else
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select n.instruction_id, o.state, n.state, n.changed_by,
      case when n.state = 'held' and tieout.is_remembered(n.hold_reason) then n.hold_reason
        else coalesce(n.reason, n.hold_reason) end
    from moved n join stood o using (instruction_id)
    where n.state <> o.state
      or tieout.is_remembered(n.hold_reason) and o.hold_reason is distinct from n.hold_reason
    order by n.instruction_id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.redacted_sha256(l tieout.chain_links)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((
    select k.after_sha256
    from tieout.redacted_links k
    join tieout.redactions r using (redaction_id)
    join tieout.chain_links s
      on s.link_id = r.link_id and s.account_id = '' and s.what = 'redaction'
    where k.link_id = l.link_id and k.account_id = l.account_id and k.what = l.what
      and k.facts = l.facts and k.sealed_sha256 = l.facts_sha256 and tieout.is_of_words(k)
    order by k.redaction_id desc limit 1), l.facts_sha256)
$function$;

CREATE OR REPLACE FUNCTION tieout.refunded_beside(account text, transaction text, look bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  select sum(amount)
  from (
    select (e ->> 'refund_amount')::numeric as amount
    from tieout.gateway_calls c
    cross join jsonb_array_elements(c.entries) e
    where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', transaction))
      and c.account_id = account and c.operation = 'refund'
      and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
      and c.at <= (select as_of from tieout.pulls where pull_id = look)
      and e ->> 'transaction_id' = transaction
      -- one that was lost with a database counts from when it was found
      and not exists (select from tieout.lost_permits l where l.attempt_id = c.permit_id)
      and e ->> 'refund_amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
    union all
    (select distinct on (coalesce(l.refund_id, l.attempt_id::text)) l.amount::numeric
      from tieout.lost_moves l
      where l.account_id = account and l.operation = 'refund' and l.transaction_id = transaction
        and l.found_at <= (select as_of from tieout.pulls where pull_id = look)
        and l.amount ~ '^[0-9]{1,18}[.][0-9]{2}$'
      order by coalesce(l.refund_id, l.attempt_id::text), l.sent_at desc)
  ) as beside
$function$;

CREATE OR REPLACE FUNCTION tieout.refused_here(of_account text, of_order text, of_kind text, expected jsonb, actual jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when i.is_refused and i.replan_id is null then jsonb_build_object(
    'operation', i.operation, 'currency', i.currency,
    'amount', round(coalesce(i.refund_amount, i.amount), 2)::text, 'by', (
      select d.decided_by from tieout.decisions d
      where d.instruction_id = i.instruction_id and d.decision = 'reject'
      order by d.decision_id desc limit 1)) end
  from tieout.instructions i
  where i.account_id = of_account and i.order_no = of_order
    and i.operation = case
      when of_kind = 'refund_mismatch' then 'refund'
      when of_kind <> 'state_mismatch' then null
      when actual ->> 'state' = 'in_review' then 'review'
      when actual ->> 'state' <> 'authorised' then
        case when expected ->> 'state' = 'cancelled' then 'refund' end
      when expected ->> 'state' = 'captured' then 'capture'
      when expected ->> 'state' = 'cancelled' then 'cancel'
    end
  order by i.instruction_id desc limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.resume_end(tick timestamp without time zone, zone text, resume_until time without time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (tick::date + (tick::time >= resume_until)::int + resume_until) at time zone zone
$function$;

CREATE OR REPLACE FUNCTION tieout.seal(account text, day date, with_looks boolean DEFAULT true)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
begin
  insert into tieout.chain_heads (account_id) values (account) on conflict do nothing;
  perform from tieout.chain_heads where account_id = account for update;
  return tieout.seal_held(array[account], day, with_looks);
end $function$;

CREATE OR REPLACE FUNCTION tieout.seal_decision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  account text;
begin
  case tg_table_name
  when 'break_events' then
    select b.account_id into account
    from tieout.break_events e join tieout.breaks b using (break_id)
    where e.event_id = new.event_id and e.link_id is null;
  when 'decisions' then
    select d.account_id into account from tieout.decisions d
    where d.decision_id = new.decision_id and d.link_id is null;
  else
    execute format('select %s from tieout.%I where %I = $1 and link_id is null',
      tg_argv[1], tg_table_name, tg_argv[0])
      using (to_jsonb(new) ->> tg_argv[0])::bigint into account;
  end case;
  -- one that was decided with it may have sealed it
  if account is not null then
    perform tieout.seal(account, (clock_timestamp() at time zone 'UTC')::date, false);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION tieout.seal_free(accounts text[], day date)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  free text[];
begin
  insert into tieout.chain_heads (account_id) select unnest(accounts) on conflict do nothing;
  select coalesce(array_agg(account_id), '{}') into free from (
    select account_id from tieout.chain_heads where account_id = any (accounts)
    order by account_id for update skip locked) as head;
  perform tieout.seal_held(free, day, true);
  return array(select unnest(accounts) except select unnest(free));
end $function$;

CREATE OR REPLACE FUNCTION tieout.seal_held(accounts text[], day date, with_looks boolean)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  look bigint;
  source record;
  ids bigint[];
  links int := 0;
begin
  for look in
    select p.pull_id from tieout.pulls p join tieout.runs r using (run_id)
    where with_looks and not p.is_sealed and not r.is_dry
      -- a look that was never finished is given up after two days
      and (p.finished_at is not null or p.as_of < clock_timestamp() - interval '2 days')
      and exists (
        select from unnest(accounts) as a (account_id)
        where not exists (select from tieout.look_links l
            where l.pull_id = p.pull_id and l.account_id = a.account_id)
          and exists (select from tieout.asked_orders o
            where o.pull_id = p.pull_id and o.account_id = a.account_id))
    order by p.pull_id
  loop
    with linked as (
      insert into tieout.look_links (pull_id, account_id, link_id)
      select look, a.account_id, nextval('tieout.chain_link_ids')
      from unnest(accounts) as a (account_id)
      where not exists (select from tieout.look_links l
          where l.pull_id = look and l.account_id = a.account_id)
        and exists (select from tieout.asked_orders o
          where o.pull_id = look and o.account_id = a.account_id)
      returning account_id, link_id
    ),
    -- nobody goes on with it
    over as (
      update tieout.chunks c set state = 'done', token = null, leased_until = null
      from linked l where c.pull_id = look and c.account_id = l.account_id and c.state <> 'done'
    )
    select array_agg(link_id) into ids from linked;
    links := links + tieout.add_links(ids, day, 'look');
    update tieout.pulls p set is_sealed = true
    where p.pull_id = look and not exists (
      select from tieout.run_accounts a
      where a.run_id = p.run_id
        and not exists (select from tieout.look_links l
          where l.pull_id = look and l.account_id = a.account_id)
        and exists (select from tieout.asked_orders o
          where o.pull_id = look and o.account_id = a.account_id));
  end loop;
  for source in
    select what, mark from tieout.fact_sources
    where mark is not null
      and (is_of_account and accounts <> '{""}' or not is_of_account and '' = any (accounts))
    order by what
  loop
    execute format('with marked as (%s returning f.link_id)
      select array_agg(distinct link_id) from marked', source.mark)
    into ids
    using accounts, (select array_agg(nextval('tieout.chain_link_ids')) from unnest(accounts));
    if ids is not null then
      links := links + tieout.add_links(ids, day, source.what);
    end if;
  end loop;
  return links;
end $function$;

CREATE OR REPLACE FUNCTION tieout.seen_at(i tieout.instructions, pull bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', round(l.amount, 2)::text, 'captureAmount', round(l.capture_amount, 2)::text,
        'transaction', l.transaction_id, 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no
      order by l.placed_at, l.amount limit 1),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', left(r.refund_id, 512),
        'amount', round(r.refund_amount, 2)::text, 'reason', left(r.reason, 1000),
        'requestedBy', left(r.requested_by, 1000),
        'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
        || tieout.payout_terms(p.payload)
      from tieout.payout_asked(i) as p (payload))) else '{}' end
    || case when i.operation = 'refund' then tieout.disputes_seen(i) else '{}' end
    || tieout.calls_seen(i) || tieout.put_back_seen(i)
$function$;

CREATE OR REPLACE FUNCTION tieout.seen_of(i tieout.instructions)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select tieout.seen_at(i, case when i.operation <> 'payout' then
    tieout.newest_look(i.account_id, i.order_no) end)
$function$;

CREATE OR REPLACE FUNCTION tieout.seen_orders(run bigint, account text, snapshot bigint)
 RETURNS TABLE(account_id text, order_no text, class text, kinds text[], expected text, gateway_state text, payment_status text, currency text, ledger_currency text, ledger_amount numeric, gateway_currency text, gateway_amount numeric, gateway_amount_text text, transaction_id text, transaction_date text, placed_at timestamp with time zone, ledger_captured numeric, ledger_refunded numeric, gateway_captured numeric, gateway_refunded numeric)
 LANGUAGE sql
 STABLE
AS $function$
  with again as materialized (
    -- Orders with more than one entry, or looked at again after sending: few. Each half of the
    -- entries has an index of its own. A later snapshot of all orders that was cut short is of no
    -- account.
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from tieout.pulls p
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
        and not is_extra
      offset 0
    ) e
    where p.run_id = run and p.pull_id > snapshot and p.kind = 'confirm'
    union all
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from tieout.pulls p
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
        and is_extra
      offset 0
    ) e
    where p.run_id = run and (p.pull_id = snapshot or p.pull_id > snapshot and p.kind = 'confirm')
    union all
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from (
      select distinct order_no from tieout.look_entries
      where pull_id = snapshot and account_id = account and is_extra
    ) crowded
    cross join lateral (
      select * from tieout.look_entries where pull_id = snapshot and account_id = account
        and order_no = crowded.order_no and not is_extra
      offset 0
    ) e
  ),
  special as materialized (
    select distinct on (order_no) pull_id, order_no, state, payment_status, currency, amount,
      amount_text, transaction_id, transaction_date
    from again
    order by order_no, pull_id desc, coalesce(state, '') in ('cancelled', 'declined'),
      coalesce(state, '') not in ('captured', 'partially_refunded', 'refunded'),
      transaction_at desc nulls last, transaction_id desc
  ),
  -- what was taken by several transactions of one order, in the currency that its line shows
  taken as materialized (
    select order_no, sum(amount) as captured,
      sum(amount) filter (where state = 'refunded') as refunded
    from (
      select distinct on (order_no, a.transaction_id) order_no, a.state, a.amount
      from special s join again a using (order_no, pull_id)
      where a.state in ('captured', 'partially_refunded', 'refunded')
        and a.currency is not distinct from s.currency
      order by order_no, a.transaction_id, a.state
    ) as one
    group by order_no having count(*) > 1
  ),
  known as materialized (
    -- a night that is taken up again has no end, whenever it ended before
    select case when r.state = 'running' then 'infinity'
        else coalesce(r.finished_at, 'infinity') end as until, (
      select (a ->> 'liveFrom')::timestamptz
      from jsonb_array_elements(r.settings -> 'accounts') a
      where a ->> 'accountId' = account limit 1) as live_from
    from tieout.runs r where r.run_id = run
  ),
  -- of orders with requests: few
  refund as materialized (
    select r.order_no, sum(r.refund_amount) as requested,
      sum(case when r.requested_at < known.live_from then r.refund_amount
        else paid.refund_amount end) as done
    from tieout.asked_refunds r
    cross join known
    left join lateral (
      select i.refund_amount from tieout.instructions i
      where i.account_id = account and i.refund_id = r.refund_id and i.operation = 'refund'
        and i.state = 'confirmed' and not i.is_void and i.settled_at <= known.until
      offset 0
    ) paid on true
    where r.pull_id = snapshot and r.account_id = account
    group by r.order_no
  ),
  -- of orders of which we captured a part: few
  part as materialized (
    select distinct on (i.order_no) i.order_no, i.transaction_id, i.amount
    from tieout.instructions i
    where i.account_id = account and i.is_part and i.operation = 'capture'
      and i.state = 'confirmed'
    order by i.order_no, i.instruction_id desc
  ),
  -- few
  moved as materialized (
    select m.order_no, m.currency, sum(m.amount) filter (where m.operation = 'capture') as captured,
      sum(m.amount) filter (where m.operation = 'refund') as refunded
    from tieout.moved_after(run, account) m
    group by m.order_no, m.currency
  )
  select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
    e.state as gateway_state, e.payment_status, coalesce(o.currency, e.currency) as currency,
    o.currency as ledger_currency, o.amount as ledger_amount,
    coalesce(e.currency, moved.currency) as gateway_currency, e.amount as gateway_amount,
    -- of an amount that lacks the printed shape
    e.amount_text as gateway_amount_text, e.transaction_id, e.transaction_date, o.placed_at,
    case when o.expected = 'captured' and o.currency is not null
      then coalesce(o.capture_amount, o.amount) end as ledger_captured,
    case when o.expected = 'captured' and o.currency is not null
      then refund.requested end as ledger_refunded,
    coalesce(shown.captured + coalesce(moved.captured, 0), moved.captured) as gateway_captured,
    coalesce(shown.refunded + coalesce(moved.refunded, 0), moved.refunded) as gateway_refunded
  from tieout.asked_orders o
  left join tieout.look_entries p
    on p.pull_id = snapshot and p.account_id = account and p.order_no = o.order_no
      and not p.is_extra
  left join special s on s.order_no = o.order_no
  cross join lateral (
    select case when s.order_no is null then p.state else s.state end as state,
      case when s.order_no is null then p.payment_status else s.payment_status end
        as payment_status,
      case when s.order_no is null then p.currency else s.currency end as currency,
      case when s.order_no is null then p.amount else s.amount end as amount,
      case when s.order_no is null then p.amount_text else s.amount_text end as amount_text,
      case when s.order_no is null then p.transaction_id else s.transaction_id end
        as transaction_id,
      case when s.order_no is null then p.transaction_date else s.transaction_date end
        as transaction_date
  ) e
  left join taken on taken.order_no = o.order_no
  left join refund on refund.order_no = o.order_no
  left join part on part.order_no = o.order_no
  cross join lateral (
    select case when part.transaction_id = e.transaction_id then part.amount end as amount
  ) mine
  -- by the looks of the night
  cross join lateral (
    select case when e.state in ('captured', 'partially_refunded', 'refunded')
        and e.currency is not null
        then coalesce(taken.captured, mine.amount, e.amount) end as captured,
      case when e.currency is null then null
        when e.state = 'refunded' then coalesce(taken.refunded, mine.amount, e.amount)
        when e.state = 'partially_refunded'
          then coalesce(refund.done, 0) + coalesce(taken.refunded, 0)
      end as refunded
  ) shown
  -- also of an order that the night did not get to see
  left join moved on moved.order_no = o.order_no
    and moved.currency = coalesce(e.currency, o.currency)
  left join tieout.verdicts v
    on v.run_id = run and v.account_id = account and v.order_no = o.order_no
  where o.pull_id = snapshot and o.account_id = account
  order by o.order_no
$function$;

CREATE OR REPLACE FUNCTION tieout.seen_sha256(seen jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select encode(sha256(convert_to(seen::text, 'UTF8')), 'hex')
$function$;

CREATE OR REPLACE FUNCTION tieout.sees_run(accounts text[], run bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select not exists (select from tieout.run_accounts ra
    where ra.run_id = run and not ra.account_id = any (accounts))
$function$;

CREATE OR REPLACE FUNCTION tieout.sending_status(accounts text[])
 RETURNS TABLE(account_id text, run_id bigint, send_block text, sending text, canary_batch_id bigint, sending_reason text, environment text, settings_sha256 text, brakes jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  select wanted.account_id, newest.run_id, newest.send_block, newest.sending,
    newest.canary_batch_id, newest.sending_reason, newest.environment,
    newest.settings_sha256,
    coalesce((
      select jsonb_agg(jsonb_build_object('kind', b.kind, 'account_id', b.account_id,
        'reason', b.reason, 'by', b.by, 'at', b.at) order by b.seq)
      from tieout.standing_brakes b
      where b.account_id is null or b.account_id = wanted.account_id
    ), '[]') as brakes
  from unnest((select accounts)) as wanted (account_id)
  left join lateral (
    select ra.*, r.environment, r.settings_sha256
    from tieout.run_accounts ra
    join tieout.runs r using (run_id)
    where ra.account_id = wanted.account_id collate "C" and not r.is_dry
      and ra.merchant_id is not null
    order by ra.business_date desc
    limit 1
  ) newest on true
$function$;

CREATE OR REPLACE FUNCTION tieout.settled_lines_sha256(account text, batch_name text, settled_in text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case when b.digest = ''
    then tieout.settled_rows_sha256(account, batch_name, settled_in)
    when exists (select from tieout.chain_links k where k.link_id = b.link_id)
    then tieout.copied_lines_sha256(account, batch_name, settled_in)
    else b.digest end
  from tieout.settlement_batches b
  where b.account_id = account and b.batch = batch_name and b.currency = settled_in
$function$;

CREATE OR REPLACE FUNCTION tieout.settled_refunds(of_account text, of_order text, of_transaction text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_agg(jsonb_build_object('amount', round(abs(l.amount), 2)::text,
    'currency', l.currency, 'batch', l.batch) order by l.booked_at, l.settlement_line_id)
  from (
    select * from tieout.settlement_lines
    where account_id = of_account and order_no = of_order
    union
    select * from tieout.settlement_lines
    where account_id = of_account and transaction_id = of_transaction
  ) l
  where l.type = 'refunded' and not exists (
    select from tieout.settlement_matches t join tieout.movements m using (movement_id)
    where t.settlement_line_id = l.settlement_line_id and m.made = 'here')
$function$;

CREATE OR REPLACE FUNCTION tieout.settled_rows_sha256(account text, batch_name text, settled_in text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select tieout.fact_digest(string_agg(sha256(convert_to(row(settlement_line_id, line_id, line_no,
    type, extract(epoch from booked_at), order_no, transaction_id, reference, currency, amount,
    gross, fee, net)::text, 'UTF8')), '' order by settlement_line_id))
  from tieout.settlement_lines
  where account_id = account and batch = batch_name and settle_currency = settled_in
$function$;

CREATE OR REPLACE FUNCTION tieout.shown_amount(amount numeric, written text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(nullif(round(amount, 2)::text, 'NaN'), written)
$function$;

CREATE OR REPLACE FUNCTION tieout.shown_sha256(i tieout.instructions, seen jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select tieout.seen_sha256(seen || jsonb_strip_nulls(
    jsonb_build_object('waitsFor', i.hold_reason, 'freedBy', i.freed_by)))
$function$;

CREATE OR REPLACE FUNCTION tieout.shown_transactions(run bigint, accounts text[])
 RETURNS TABLE(account_id text, order_no text, transaction_id text, state text, currency text, amount numeric, transaction_at timestamp with time zone, pull_id bigint)
 LANGUAGE sql
 STABLE
AS $function$
  with look as materialized (
    select account_id, pull_id as night from tieout.run_accounts
    where run_id = run and account_id = any (accounts) and pull_id is not null
  ),
  later as materialized (
    select distinct on (e.account_id, e.order_no) e.account_id, e.order_no, e.pull_id
    from look
    join tieout.pulls p on p.run_id = run and p.kind = 'confirm' and p.pull_id > look.night
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = p.pull_id and account_id = look.account_id and not is_extra
      offset 0
    ) e
    order by e.account_id, e.order_no, e.pull_id desc
  ),
  plain as (
    select e.* from look
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = look.night and account_id = look.account_id and not is_extra
      offset 0
    ) e
    where (e.account_id, e.order_no) not in (select account_id, order_no from later)
    union all
    select e.* from later
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = later.pull_id and account_id = later.account_id
        and order_no = later.order_no and not is_extra
      offset 0
    ) e
  ),
  extra as materialized (
    select e.* from look
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = look.night and account_id = look.account_id and is_extra
      offset 0
    ) e
    where (e.account_id, e.order_no) not in (select account_id, order_no from later)
    union all
    select e.* from later
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = later.pull_id and account_id = later.account_id
        and order_no = later.order_no and is_extra
      offset 0
    ) e
  ),
  torn as materialized (
    select account_id, order_no, transaction_id
    from (
      select account_id, order_no, transaction_id, found, state, currency, amount from extra
      union all
      select e.account_id, e.order_no, e.transaction_id, p.found, p.state, p.currency, p.amount
      from extra e join tieout.look_entries p
        on p.pull_id = e.pull_id and p.account_id = e.account_id and p.order_no = e.order_no
          and not p.is_extra and p.transaction_id = e.transaction_id
    ) told
    where transaction_id is not null
    group by 1, 2, 3
    having count(distinct row(found, state, currency, amount)) > 1
  )
  select account_id, order_no, transaction_id, state, currency, amount, transaction_at, pull_id
  from (select * from plain union all select * from extra) e
  where found and transaction_id <> '' and state is not null and amount > 0 and currency <> ''
    and (account_id, order_no, transaction_id) not in (
      select account_id, order_no, transaction_id from torn)
$function$;

CREATE OR REPLACE FUNCTION tieout.stands_apart(kind text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select kind in ('refund_without_order', 'payout_rejected') or tieout.is_settlement_kind(kind)
$function$;

CREATE OR REPLACE FUNCTION tieout.state_in_night(of_run text, of_account text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when of_account <> 'running' then of_account
    when of_run in ('running', 'failed') then of_run
    else 'incomplete' end
$function$;

CREATE OR REPLACE FUNCTION tieout.statement_lines(run bigint, account text, snapshot bigint)
 RETURNS TABLE(account_id text, order_no text, currency text, item text, break_id bigint, first_seen timestamp with time zone, owner text, ledger_captured numeric, gateway_captured numeric, ledger_refunded numeric, gateway_refunded numeric, transaction_id text, hold_reason text)
 LANGUAGE sql
 STABLE
 SET enable_hashjoin TO 'off'
 SET enable_nestloop TO 'off'
 SET max_parallel_workers_per_gather TO '0'
 SET jit TO 'off'
AS $function$
  with differing as materialized (
    select o.*, o.ledger_currency is distinct from o.gateway_currency as is_foreign, it.differs
    from tieout.seen_orders(run, account, snapshot) o
    cross join lateral (
      select coalesce(o.ledger_captured, 0) <> coalesce(o.gateway_captured, 0)
        or coalesce(o.ledger_refunded, 0) <> coalesce(o.gateway_refunded, 0)
        or coalesce(o.ledger_currency <> o.gateway_currency
          and (o.ledger_captured <> 0 or o.gateway_captured <> 0), false)
        or coalesce(o.gateway_state = 'partially_refunded'
          and 'refund_mismatch' = any (o.kinds), false) as differs
    ) it
    -- what moved after the night is listed also where nothing differs any more
    where it.differs or o.order_no in (select m.order_no from tieout.moved_after(run, account) m)
  ),
  told as materialized (
    select d.*, b.break_id, b.first_seen, b.owner, i.hold_reason,
      -- refunds that were asked and are not the turn of the instruction, whatever became of it
      case when coalesce(i.state, later.state) is not null and not d.is_foreign
        then greatest(0, coalesce(d.ledger_refunded, 0) - coalesce(d.gateway_refunded, 0)
          - coalesce(i.back, 0) - coalesce(later.back, 0))
        else 0 end as rest,
      -- beside a line of the other kind: of a capture of a later date what is asked back, else what
      -- went back on one
      case when i.state is null or later.state is null or d.is_foreign then 0
        when later.has_capture then i.back else later.back end as aside,
      case when i.state is not null and later.has_capture then own.item else 'moved_later' end
        as aside_item,
      case when not d.differs then 'moved_after' else case d.class
        when 'matched' then case
          when d.expected = 'cancelled' then 'taken_of_cancelled'
          when d.ledger_captured < d.ledger_amount and d.gateway_captured = d.ledger_amount
            and not d.is_foreign then 'shown_whole'
          else 'unexplained' end
        when 'due' then case
          when later.has_capture or i.state is null and later.state is not null
            then 'moved_later'
          when i.state is null and d.expected = 'cancelled' and not d.is_foreign
            and d.gateway_refunded = d.gateway_captured then 'taken_of_cancelled'
          when i.state is null then 'later'
          else own.item end
        when 'broken' then coalesce(b.kind, 'broken')
        else d.class end end as item
    from differing d
    left join lateral (
      select b.break_id, b.kind, b.first_seen, b.owner from tieout.breaks b
      where d.class in ('broken', 'explained') and b.account_id = d.account_id
        and b.order_no = d.order_no and not tieout.stands_apart(b.kind)
      order by b.kind = any (d.kinds) desc, b.state = 'open' desc,
        b.kind = 'currency_mismatch' desc,
        b.kind in ('amount_mismatch', 'stale_authorisation'), b.kind
      limit 1
    ) b on true
    -- The open one: an order has no second. Else what a person or the gateway refused since, which
    -- does not come by itself: the next night says so. One from before the look is a break already.
    left join lateral (
      select i.state, i.is_refused, i.hold_reason, coalesce(i.refund_amount, 0) as back
      from tieout.instructions i
      where d.class = 'due' and i.account_id = d.account_id and i.order_no = d.order_no
        and (i.is_open or (i.is_refused or i.state = 'rejected') and i.replan_id is null
          and i.settled_at >= (select p.as_of from tieout.pulls p where p.pull_id = snapshot))
      order by i.is_open desc, i.instruction_id desc
      limit 1
    ) i on true
    cross join lateral (
      select case when i.is_refused then 'refused'
        when i.state in ('held', 'rejected', 'unknown') then i.state else 'due' end as item
    ) own
    -- What moved of it since and belongs to a later date: no later run is waited for.
    left join lateral (
      select 'confirmed' as state, bool_or(m.operation = 'capture') as has_capture,
        coalesce(sum(m.amount) filter (where m.operation = 'refund'), 0) as back
      from tieout.instructions c
      join tieout.day_movements m on m.instruction_id = c.instruction_id
      where d.class = 'due' and c.account_id = d.account_id and c.order_no = d.order_no
        and c.state = 'confirmed'
        and m.belongs_to > (select r.business_date from tieout.runs r where r.run_id = run)
        and m.currency = d.ledger_currency
      having count(*) > 0
    ) later on true
  )
  select account_id, order_no, currency, item, break_id, first_seen, owner, ledger_captured,
    gateway_captured, ledger_refunded, gateway_refunded, transaction_id, hold_reason
  from (
    -- one side alone, or both in one currency
    select account_id, order_no,
      case when ledger_captured is null and ledger_refunded is null then gateway_currency
        else ledger_currency end as currency,
      item, break_id, first_seen, owner, ledger_captured, gateway_captured,
      ledger_refunded - rest - aside as ledger_refunded, gateway_refunded, transaction_id,
      hold_reason
    from told
    where not is_foreign or (ledger_captured is null and ledger_refunded is null)
      or (gateway_captured is null and gateway_refunded is null)
    union all
    select account_id, order_no, ledger_currency, item, break_id, first_seen, owner,
      ledger_captured, null, ledger_refunded, null, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, gateway_currency, item, break_id, first_seen, owner,
      null, gateway_captured, null, gateway_refunded, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, ledger_currency, 'later', null, null, null, null, null, rest,
      null, transaction_id, null
    from told where rest > 0
    union all
    select account_id, order_no, ledger_currency, aside_item, null, null, null, null, null, aside,
      null, transaction_id, hold_reason
    from told where aside > 0
  ) as line
  order by currency, item, first_seen, order_no
$function$;

CREATE OR REPLACE FUNCTION tieout.stray_payouts(sums numeric[])
 RETURNS TABLE(attempt_id uuid, entry integer, currency text, money numeric, found_at timestamp with time zone)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  with lost as materialized (
    select l.attempt_id, l.entry, upper(l.currency) as currency,
      tieout.amount_in(l.amount) as money, l.found_at, lower(l.order_no) as request_id
    from tieout.lost_moves l
    where l.operation = 'payout' and tieout.amount_in(l.amount) = any (sums)
      and l.order_no is not null and not exists (
        select from tieout.instructions i
        where i.operation = 'payout' and i.transaction_id = lower(l.order_no) offset 0)
  ),
  -- "is true" keeps the small list a table to look into; joined, the ledger was read for each row
  asked as materialized (
    select p.request_id from tieout.ledger_payouts() p
    where (p.request_id in (select lost.request_id from lost)) is true
  )
  select lost.attempt_id, lost.entry, lost.currency, lost.money, lost.found_at from lost
  where (lost.request_id in (select asked.request_id from asked)) is not true
$function$;

CREATE OR REPLACE FUNCTION tieout.taken_by(expected text, observed text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when expected = 'captured' and observed in ('authorised', 'in_review', 'pending', 'declined',
      'cancelled') then 'ledger'
    when expected in ('authorised', 'cancelled', 'declined')
      and observed in ('captured', 'partially_refunded') then 'gateway'
  end
$function$;

CREATE OR REPLACE FUNCTION tieout.tolerated_difference(taken numeric, gateway_amount numeric, to_take numeric, ledger_amount numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(taken, gateway_amount) - coalesce(to_take, ledger_amount)
$function$;

CREATE OR REPLACE FUNCTION tieout.too_fine(decimals integer, currency text, coarse jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when decimals > (coarse ->> currency)::int
    then case coarse ->> currency when '0' then 'its currency has no decimals'
      else 'its currency has one decimal' end end
$function$;

CREATE OR REPLACE FUNCTION tieout.typed_money(l tieout.lost_permits, i tieout.instructions)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case when l.operation = 'payout' and i.operation = 'payout' and i.is_in_totals
    and tieout.amount_in(l.amount) <> i.amount
    and tieout.amount_in(l.amount) = tieout.amount_in(i.payload ->> 'payment_amount')
    then i.amount::text end
$function$;

CREATE OR REPLACE FUNCTION tieout.unseen(i tieout.instructions, reasons text[])
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select r.reason
  from unnest(reasons) with ordinality as r (reason, place)
  where r.reason is not null
    and not exists (select from tieout.approvals_in_sight(i) a where a.reason = r.reason)
  order by r.place limit 1
$function$;

CREATE OR REPLACE FUNCTION tieout.unseen_double(i tieout.instructions)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case when i.doubled is not null then
    tieout.unseen(i, array_remove(string_to_array(i.doubled, ' '), i.hold_reason)) end
$function$;

CREATE OR REPLACE FUNCTION tieout.usable_amount(amount numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when amount > 0 and round(amount, 2) < 1e18 then amount end
$function$;

CREATE OR REPLACE FUNCTION tieout.usable_instant(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when at >= '1970-01-01T00:00:00Z'::timestamptz
    and at < '3000-01-01T00:00:00Z'::timestamptz then at end
$function$;

CREATE OR REPLACE FUNCTION tieout.waited_before(of_account text, refund text, payout text)
 RETURNS TABLE(known_at timestamp with time zone, is_left_disputed boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select case when bool_or(waited.restored) then '-infinity' else min((i).created_at) end,
    (array_agg(waited.last = 'disputed' and tieout.disputes_seen(i) = '{}'
      order by (i).instruction_id desc))[1]
  from (
    select i from tieout.instructions i where i.operation = 'refund' and i.refund_id = refund
      and i.account_id = of_account and i.state = 'withdrawn' and not i.is_refused
    union all
    select i from tieout.instructions i where i.operation = 'payout'
      and i.transaction_id = payout and i.state = 'withdrawn'
      and not i.is_refused
  ) one (i)
  cross join lateral (
    select bool_or(e.reason = 'restored') as restored,
      (array_agg(e.reason order by e.seq desc) filter (where e.reason <> 'restored'))[1] as last
    from tieout.instruction_events e
    where e.instruction_id = (i).instruction_id and e.to_state = 'held'
  ) waited
$function$;

CREATE OR REPLACE FUNCTION tieout.waits_still(i tieout.instructions)
 RETURNS TABLE(restored boolean, doubled text, freed boolean, left_disputed boolean, over_limit boolean)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select exists (
      select from tieout.lost_moves l
      where l.account_id = i.account_id
        and replace(l.operation, 'cancel', 'capture') = replace(i.operation, 'cancel', 'capture')
        and (case i.operation when 'refund' then l.refund_id = i.refund_id
            when 'payout' then l.order_no = i.order_no
            else l.transaction_id = i.transaction_id end
          or l.found_at > past.first_at and (l.order_no = i.order_no
            or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)))
    or past.first_at < (select max(at) from tieout.put_backs)
      and (i.operation = 'payout' or i.operation = 'refund'
        and i.from_state = 'partially_refunded' and 'partially_refunded' = any (i.done_states)),
    (select tieout.unseen(i, array[made.reason])
      from (select case when past.was_second then 'second_capture'
        when past.stood > past.replanned or i.operation = 'refund' and exists (
          select from tieout.instructions gone
          where gone.account_id = i.account_id and gone.order_no = i.order_no
            and gone.operation = 'refund' and tieout.leaves_a_place(gone))
          then 'twin_request' end as reason) made
      where made.reason is not null),
    i.freed_by is not null and not coalesce((select d.row_before ->> 'freed_by' = i.freed_by
        from tieout.decisions d where d.decision_id = i.approval_id), false)
      or i.approval_id is null and exists (
        select from tieout.instructions f
        where f.freed_by is not null and f.state = 'withdrawn' and not f.is_refused
          and f.approval_id is null and f.account_id = i.account_id and f.order_no = i.order_no
          and f.operation = i.operation and f.refund_id is not distinct from i.refund_id),
    i.approval_id is null and coalesce(past.last = 'disputed', false)
      and tieout.disputes_seen(i) = '{}',
    i.approval_id is null and coalesce(past.over_limit, false)
  from (
    -- what waited for that is known from ever, as in plan.sql
    select min(case when e.reason = 'restored' then '-infinity' else b.created_at end)
        filter (where b.is_same and not b.is_done) as first_at,
      bool_or(e.reason = 'second_capture') filter (where i.operation = 'capture') as was_second,
      bool_or(e.reason = 'over_limit_of_run') filter (where b.is_same) as over_limit,
      (array_agg(e.reason order by e.seq desc) filter (where b.is_same and not b.is_done
        and i.operation = 'refund' and e.reason <> 'restored'))[1] as last,
      max(b.instruction_id) filter (where i.operation = 'payout' and b.replan_id is null
        and e.reason = 'twin_request') as stood,
      coalesce(max(b.instruction_id) filter (where b.replan_id is not null), 0) as replanned
    from (
      select one.instruction_id, one.created_at, one.replan_id,
        one.transaction_id = i.transaction_id as is_same,
        one.state = 'rejected' or one.is_refused as is_done
      from tieout.instructions one
      where i.operation not in ('refund', 'payout') and one.account_id = i.account_id
        and one.order_no = i.order_no and one.operation = i.operation
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'refund' and one.operation = 'refund' and one.refund_id = i.refund_id
        and one.account_id = i.account_id
      union all
      select one.instruction_id, one.created_at, one.replan_id, true,
        one.state = 'rejected' or one.is_refused
      from tieout.instructions one
      where i.operation = 'payout' and one.operation = 'payout'
        and one.transaction_id = i.transaction_id and one.account_id = i.account_id
    ) b
    left join tieout.instruction_events e
      on e.instruction_id = b.instruction_id and e.to_state = 'held'
  ) past
$function$;

CREATE OR REPLACE FUNCTION tieout.waiver_stake(kind text, currency text, amount numeric, expected jsonb, actual jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select round(greatest(amount, tieout.break_money(kind, currency, expected, actual)), 2)
$function$;

CREATE OR REPLACE FUNCTION tieout.weigh_movement_amount()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  movement tieout.movements;
  before numeric;
begin
  -- one after the other, so that each knows the one before it
  select * into movement from tieout.movements
  where movement_id = new.movement_id for no key update;
  select amount into before from tieout.movement_amounts
  where movement_id = new.movement_id order by amount_id desc limit 1;
  if not found then
    before := movement.amount;
  end if;
  if movement.made = 'here' then
    raise exception 'movement %: what we made is known by its instruction', new.movement_id
      using errcode = 'check_violation';
  end if;
  new.change := coalesce(new.amount, 0) - coalesce(before, 0);
  new.suspense := (new.amount is null)::int - (before is null)::int;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION tieout.without_lookalikes(words text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when getdatabaseencoding() = 'UTF8' then regexp_replace(normalize(words, nfkc),
    '[\u0001-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\u00AD\u034F\u061C\u115F\u1160'
      || '\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u2800\u3164'
      || '\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3'
      || '\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]',
    '', 'g') else words end
$function$;

CREATE OR REPLACE FUNCTION tieout.worst_state(states text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when 'failed' = any (states) then 'failed'
    when 'running' = any (states) then 'running'
    when 'incomplete' = any (states) then 'incomplete'
    when 'broken' = any (states) then 'broken'
    else 'tied_out' end
$function$;

CREATE OR REPLACE FUNCTION tieout.younger_requests(account text, since timestamp with time zone, look bigint)
 RETURNS TABLE(order_no text, refund_id text, requested_at timestamp with time zone)
 LANGUAGE sql
 STABLE
AS $function$
  select was.order_no, was.refund_id, was.requested_at
  from tieout.pulls own
  join tieout.runs own_run on own_run.run_id = own.run_id
  join tieout.runs r on not r.is_dry and r.business_date <= own_run.business_date
    and r.business_date >= coalesce((
      select max(told.business_date) from tieout.run_accounts t
      join tieout.runs told on told.run_id = t.run_id and not told.is_dry
        and told.summary is not null and told.business_date < own_run.business_date
      where t.account_id = account and t.merchant_id is not null), '-infinity')
  join tieout.pulls p on p.run_id = r.run_id and p.kind = 'night' and p.pull_id < own.pull_id
  join tieout.asked_refunds was on was.pull_id = p.pull_id and was.account_id = account
    and was.requested_at >= since
  where own.pull_id = look
$function$;
