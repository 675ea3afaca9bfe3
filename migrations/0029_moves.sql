-- Up Migration
-- An instruction moves four times in a night, and each move was a new entry in every index, since
-- the state itself stood in the conditions of some. Whether it is open, and whether it is void,
-- changes once in its life: with that in their place, and with room left in each page, the moves
-- of a send touch no index at all.
create function tieout.is_open(state text) returns boolean language sql immutable
  return state in ('planned', 'held', 'queued', 'sending', 'accepted', 'unknown');
-- It had no effect, and never will.
create function tieout.is_void(state text) returns boolean language sql immutable
  return state in ('rejected', 'withdrawn');

alter table tieout.instructions set (fillfactor = 50);
alter table tieout.instructions
  add column is_open boolean not null generated always as (tieout.is_open(state)) stored,
  add column is_void boolean not null generated always as (tieout.is_void(state)) stored;

drop index tieout.instructions_open_order, tieout.instructions_one_effect,
  tieout.instructions_one_refund;
-- An order has at most one open instruction.
create unique index instructions_open_order on tieout.instructions (account_id, order_no)
  where is_open;
-- At most one capture, cancel, review a transaction, and one refund a request, that may have had
-- an effect or still can.
create unique index instructions_one_effect
  on tieout.instructions (account_id, transaction_id, operation)
  where operation <> 'refund' and not is_void;
create unique index instructions_one_refund on tieout.instructions (account_id, refund_id)
  where operation = 'refund' and not is_void;
-- payouts_by_request finds the same few rows, and knows no state.
drop index tieout.instructions_payouts;

-- Down Migration
create index instructions_payouts on tieout.instructions (account_id, transaction_id, state)
  where operation = 'payout';
drop index tieout.instructions_open_order, tieout.instructions_one_effect,
  tieout.instructions_one_refund;
alter table tieout.instructions drop column is_open, drop column is_void;
alter table tieout.instructions reset (fillfactor);
drop function tieout.is_open(text), tieout.is_void(text);
create unique index instructions_open_order on tieout.instructions (account_id, order_no)
  where state in ('planned', 'held', 'queued', 'sending', 'accepted', 'unknown');
create unique index instructions_one_effect
  on tieout.instructions (account_id, transaction_id, operation)
  where operation <> 'refund' and state not in ('rejected', 'withdrawn');
create unique index instructions_one_refund on tieout.instructions (account_id, refund_id)
  where operation = 'refund' and state not in ('rejected', 'withdrawn');
