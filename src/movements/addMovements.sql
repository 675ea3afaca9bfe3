-- Books what was made elsewhere. $1 run, $2 business date, $3 settlement.from, $4 entries as json;
-- those that are `known` are rows of addAmounts.sql.
insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount, made,
  business_date, run_id, is_history)
select e.account_id, e.order_no, e.transaction_id, e.kind, e.currency, e.amount, 'elsewhere',
  greatest($2::date, tieout.closed_until(b.account_id) + 1), $1,
  $2 < $3::date or case when e.is_old
    then $2 = b.begins or not tieout.known_to_book(e.account_id, e.order_no, $1) else false end
from jsonb_to_recordset($4::jsonb) as e (what text, account_id text, order_no text,
  transaction_id text, kind text, currency text, amount numeric, is_old boolean)
join tieout.movement_books b on b.account_id = e.account_id
where e.what = 'new'
