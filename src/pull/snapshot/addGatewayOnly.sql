-- Entries without a ledger row that nobody asked for: they become orders of the pull, so that each
-- is in exactly one class. An unasked entry of an order that the ledger has is kept and left alone.
-- $1 pull, $2 null or the start of the look-back: where all that the gateway has is walked through,
-- entries of before are left alone too, since a ledger may have forgotten them.
with unasked as materialized (
  select distinct e.pull_id, e.account_id, e.order_no
  from :look_entries e
  where e.pull_id = $1 and not e.is_asked
    and ($2::timestamptz is null or coalesce(e.transaction_at >= $2, true))
    -- looked up entry by entry: of a snapshot that just came in the planner cannot know how few
    -- these are beside all its orders, and where all are unasked it takes no longer than to sort
    -- both
    and not exists (
      select from :asked_orders a
      where a.pull_id = e.pull_id and a.account_id = e.account_id and a.order_no = e.order_no
      offset 0
    )
)
insert into :asked_orders (pull_id, account_id, order_no, page_no, in_ledger)
select e.pull_id, e.account_id, e.order_no, null::int, false
from unasked e
where not exists (
  select from tieout.ledger_orders('{}', '{}', '') l
  where l.account_id collate "C" = e.account_id and l.order_no collate "C" = e.order_no
)
