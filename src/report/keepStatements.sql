-- The statements of a workbook; written anew where a process died after it. $1 report, $2 json.
insert into tieout.statements (report_id, account_id, currency, ledger_captured, ledger_refunded,
  gateway_captured, gateway_refunded, items, unexplained_captured, unexplained_refunded, books)
select $1::bigint, account_id, currency, ledger_captured, ledger_refunded, gateway_captured,
  gateway_refunded, items, unexplained_captured, unexplained_refunded, books
from jsonb_to_recordset($2::jsonb) as s (account_id text, currency text, ledger_captured numeric,
  ledger_refunded numeric, gateway_captured numeric, gateway_refunded numeric, items jsonb,
  unexplained_captured numeric, unexplained_refunded numeric, books jsonb)
on conflict (report_id, account_id, currency) do update set
  ledger_captured = excluded.ledger_captured, ledger_refunded = excluded.ledger_refunded,
  gateway_captured = excluded.gateway_captured, gateway_refunded = excluded.gateway_refunded,
  items = excluded.items, unexplained_captured = excluded.unexplained_captured,
  unexplained_refunded = excluded.unexplained_refunded,
  books = excluded.books
