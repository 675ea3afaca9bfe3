-- Notes the requests of payouts that count as done by their date, each once: that it came later is
-- known where those of its account had been noted before. $1 run, $2 its accounts, $3 bytes of the
-- longest id that an index holds. In order, since two runs may note at once.
with account as materialized (
  select ra.account_id, ra.acted_from, exists (
    select from tieout.payouts_before b
    where b.account_id = ra.account_id and b.request_id = '') as was_noted
  from tieout.run_accounts ra
  where ra.run_id = $1::bigint and ra.account_id = any ($2::text[])
)
insert into tieout.payouts_before (account_id, request_id, run_id, came_later)
select account_id, request_id, $1, came_later
from (
  select account_id, '' as request_id, false as came_later from account where not was_noted
  union
  select a.account_id, p.request_id collate "C", a.was_noted
  from tieout.ledger_payouts() p
  join account a on a.account_id = p.account_id collate "C" and p.requested_at < a.acted_from
  where octet_length(p.request_id) between 1 and $3::int
) as noted
where not exists (select from tieout.payouts_before b
  where b.account_id = noted.account_id and b.request_id = noted.request_id)
order by account_id, request_id
on conflict do nothing
