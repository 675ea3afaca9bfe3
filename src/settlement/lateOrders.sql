-- What became overdue just now, by account and currency, of accounts whose files have come before.
-- $1 accounts, $2 when the breaks were opened.
select b.account_id as "accountId", b.currency, count(*)::int as orders,
  round(coalesce(sum(b.amount), 0), 2)::text as amount, min(b.expected ->> 'since') as since,
  f.last_booked_at as "lastBookedAt"
from tieout.breaks b
join (
  select account_id, max(last_booked_at) as last_booked_at
  from tieout.settlement_batches where account_id = any ($1) group by account_id
) f using (account_id)
where b.state = 'open' and b.kind = 'not_settled' and b.first_seen = $2::timestamptz
group by b.account_id, b.currency, f.last_booked_at
order by b.account_id, b.currency
