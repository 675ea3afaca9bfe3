-- Up Migration
-- Which fields the gateway's answers have, so that the night on which they change can tell it. Of
-- an account and kind of answer the newest run's row and the one before are kept: what the newest
-- was held against is needed when its run is added up again.
create table tieout.answer_shapes (
  account_id text collate "C" not null,
  -- query, or the operation of a batch
  answer text not null,
  run_id bigint not null references tieout.runs on delete cascade,
  looked_at timestamptz not null,
  memory jsonb not null,
  changes jsonb not null,
  primary key (account_id, answer, run_id)
);
create index answer_shapes_by_run on tieout.answer_shapes (run_id);

-- Down Migration
drop table tieout.answer_shapes;
