-- What revisions of the workbook of a night say of accounts: of each revision whether its figures
-- are kept at all, and its pages. $1 business date, $2 accounts (null: all), $3 revisions.
select p.revision,
  exists (select from tieout.statements any_of where any_of.report_id = p.report_id) as "isKept",
  coalesce((
    select jsonb_agg(jsonb_build_object('accountId', s.account_id, 'currency', s.currency,
      'figures', jsonb_build_object(
        'ledger', jsonb_build_object('captured', round(s.ledger_captured, 2)::text,
          'refunded', round(s.ledger_refunded, 2)::text),
        'gateway', jsonb_build_object('captured', round(s.gateway_captured, 2)::text,
          'refunded', round(s.gateway_refunded, 2)::text),
        'unexplained', jsonb_build_object('captured', round(s.unexplained_captured, 2)::text,
          'refunded', round(s.unexplained_refunded, 2)::text),
        'items', s.items, 'books', s.books)) order by s.account_id, s.currency)
    from tieout.statements s
    where s.report_id = p.report_id
      and ($2::text[] is null or s.account_id = any ($2))), '[]') as pages
from tieout.runs r join tieout.reports p using (run_id)
where r.business_date = $1::date and not r.is_dry and p.kind = 'reconciliation'
  and p.format = 'xlsx' and p.period is null and p.revision = any ($3::int[])
