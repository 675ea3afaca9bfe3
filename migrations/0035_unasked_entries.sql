-- Up Migration
-- Of a look few entries were not asked for; to find them, all of it was read.
create index look_entries_unasked on tieout.look_entries (pull_id, account_id, order_no)
  where not is_asked;

-- Down Migration
drop index tieout.look_entries_unasked;
