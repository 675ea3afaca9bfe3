-- What the newest workbook of a run says of each account and currency, with who closed and who
-- locked the day since it was last open, and on which revision. $1 business date, $2 accounts.
with book as (
  select p.report_id, p.revision, p.sha256, p.written_at,
    (r.summary ->> 'asOf')::timestamptz as as_of
  from tieout.runs r join tieout.reports p using (run_id)
  where r.business_date = $1::date and not r.is_dry and p.kind = 'reconciliation'
    and p.format = 'xlsx' and p.period is null and p.state = 'written'
  order by p.revision desc limit 1
)
select s.account_id as "accountId", s.currency, book.report_id as "reportId", book.revision,
  book.sha256, book.written_at as "writtenAt", book.as_of as "asOf",
  jsonb_build_object('captured', round(s.ledger_captured, 2)::text,
    'refunded', round(s.ledger_refunded, 2)::text) as ledger,
  jsonb_build_object('captured', round(s.gateway_captured, 2)::text,
    'refunded', round(s.gateway_refunded, 2)::text) as gateway,
  s.items, jsonb_build_object('captured', round(s.unexplained_captured, 2)::text,
    'refunded', round(s.unexplained_refunded, 2)::text) as unexplained,
  s.books, coalesce(signed.events, '[]') as signed
from book join tieout.statements s using (report_id)
left join tieout.day_signings($1::date, $2) as signed using (account_id)
where s.account_id = any ($2)
order by s.account_id, s.currency
