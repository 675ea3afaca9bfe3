-- Since when is something missing, by account and currency, and how much of it is overdue? $1
-- accounts as json [{account_id, due_until}].
select m.account_id as "accountId", m.currency, min(m.business_date)::text as since,
  count(*)::int as movements,
  (count(*) filter (where m.business_date <= a.due_until))::int as overdue
from jsonb_to_recordset($1::jsonb) as a (account_id text, due_until date)
join tieout.movements_now m on m.account_id = a.account_id collate "C"
join tieout.settlement_awaited w using (movement_id)
where not m.is_history and m.amount is distinct from 0
  and not exists (select from tieout.settlement_unmatched u where u.told_of = m.movement_id)
group by m.account_id, m.currency
