-- Up Migration
-- Which requests of payouts counted as done by their date in a night, so that one that comes later
-- and is dated before liveFrom is told: nothing else would, since the gateway shows no payouts.
create table tieout.payouts_before (
  account_id text collate "C" not null,
  -- empty: from then on those of the account are noted
  request_id text collate "C" not null,
  run_id bigint not null,
  -- those of the account had been noted before, and it was not among them
  came_later boolean not null,
  primary key (account_id, request_id)
);
create index payouts_before_later on tieout.payouts_before (account_id) where came_later;

-- Down Migration
drop table tieout.payouts_before;
