-- Up Migration
-- What the gateway sent to notify_url. Its payload is not shown (gateway-interface, Events), so the
-- raw bytes are kept and nothing in them is believed: they only hint that an order should be looked
-- at again.
create table tieout.notifications (
  notification_id bigint generated always as identity primary key,
  received_at timestamptz not null,
  content_type text,
  body bytea not null,
  body_sha256 text not null,
  -- orders of the ledger whose numbers stand in the body
  hints int not null
);
create index notifications_by_time on tieout.notifications (received_at);

-- Orders to look at in the next pull, whatever their age; gone once a look was complete.
create table tieout.look_hints (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  hinted_at timestamptz not null,
  primary key (account_id, order_no)
);

-- Down Migration
drop table tieout.look_hints, tieout.notifications;
