-- Up Migration
-- The gateway shows no payout, so that no look has one: to search every look for it took the longer
-- the longer the history.
create or replace function tieout.seen_of(i tieout.instructions) returns jsonb
language sql stable as $$
  select tieout.seen_at(i, case when i.operation <> 'payout' then
    tieout.newest_look(i.account_id, i.order_no) end)
$$;

-- Down Migration
create or replace function tieout.seen_of(i tieout.instructions) returns jsonb
language sql stable as $$
  select tieout.seen_at(i, tieout.newest_look(i.account_id, i.order_no))
$$;
