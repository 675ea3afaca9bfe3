-- Books captures made elsewhere: transactions that the run saw captured and of which nothing is
-- booked (movements_shown, of showTransactions.sql). One that a capture of ours may have made, and
-- nobody knows, waits until that is settled. $1 run, $2 business date, $3 settlement.from, $4
-- cut-off, $5 timezone. A closed day gains nothing: it is booked to the first open one.
insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount, made,
  business_date, run_id, is_history)
select distinct on (s.account_id, s.transaction_id) s.account_id, s.order_no, s.transaction_id,
  'captured', s.currency, s.amount, 'elsewhere',
  greatest($2::date, tieout.closed_until(b.account_id) + 1), $1,
  -- what the first look at an order finds done may have been done before `from`
  $2 < $3::date or case when coalesce(coalesce(a.placed_at, s.transaction_at)
      < ($3::date + $4::time) at time zone $5, false)
    then $2 = b.begins or not tieout.known_to_book(s.account_id, s.order_no, $1) else false end
from movements_shown s
join tieout.movement_books b using (account_id)
left join tieout.asked_orders a
  on a.pull_id = s.pull_id and a.account_id = s.account_id and a.order_no = s.order_no
where s.state = 'captured'
  and not exists (
    select from tieout.movements m
    where m.account_id = s.account_id and m.transaction_id = s.transaction_id)
  and not exists (
    select from tieout.instructions i
    where i.account_id = s.account_id and i.order_no = s.order_no and i.is_open
      and i.operation = 'capture' and i.state in ('sending', 'accepted', 'unknown'))
order by s.account_id, s.transaction_id, s.order_no
