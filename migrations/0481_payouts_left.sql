-- Up Migration
-- When the ledger ceased to have the request of a payout: one of the same payload that comes at the
-- same time, under another number, may be that one, loaded anew.
create table tieout.payouts_left (
  account_id text collate "C" not null,
  request_id text collate "C" not null,
  left_at timestamptz not null,
  primary key (account_id, request_id)
);
-- What was planned before this: the next plan takes out what the ledger still has.
insert into tieout.payouts_left (account_id, request_id, left_at)
select account_id, transaction_id, min(created_at) from tieout.instructions
where operation = 'payout' and transaction_id is not null
group by account_id, transaction_id;
drop index tieout.payouts_by_plan;

-- Down Migration
create index payouts_by_plan on tieout.instructions (account_id, created_at)
  where operation = 'payout';
drop table tieout.payouts_left;
