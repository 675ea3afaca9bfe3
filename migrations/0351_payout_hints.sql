-- Up Migration
-- Payouts that the gateway named in a notification while nobody knew what became of them. No query
-- shows a payout, so that a person is told to look; gone once it is settled.
create table tieout.payout_hints (
  instruction_id bigint primary key references tieout.instructions,
  hinted_at timestamptz not null
);

-- Down Migration
drop table tieout.payout_hints;
