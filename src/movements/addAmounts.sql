-- What a look, or a refund request, tells of the amount of a movement that is booked. $1 run,
-- $2 business date, $3 entries as json; those that are `new` are rows of addMovements.sql.
insert into tieout.movement_amounts (movement_id, amount, known_by, business_date, run_id)
select e."movementId", e.amount, e.by, greatest($2::date, tieout.closed_until(e.account_id) + 1), $1
from jsonb_to_recordset($3::jsonb) as e (what text, "movementId" bigint, amount numeric, by text,
  account_id text)
where e.what = 'known'
