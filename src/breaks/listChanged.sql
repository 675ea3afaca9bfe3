-- What became of breaks since the run before, largest money first within an account and currency.
-- $1 run, $2 accounts, $3 currency ('' for none) or null, $4 change or null, $5 limit or null for
-- all, $6 offset, $7 the changes in their order.
select break_id::text as "breakId", account_id as "accountId", order_no as "orderNo", kind, owner,
  first_seen as "firstSeen", currency, change, stake_before::text as before,
  stake_after::text as after, round(moved, 2)::text as moved, at, by, is_claim as "isClaim", reason,
  cause
from tieout.changed_breaks($1::bigint, $2)
where ($3::text is null or coalesce(currency, '') = $3) and ($4::text is null or change = $4)
order by account_id, currency nulls last, array_position($7::text[], change), abs(moved) desc,
  break_id
limit $5 offset $6
