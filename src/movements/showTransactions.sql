-- What the run saw, looked up once for all that is booked of it. $1 run, $2 accounts.
create temp table movements_shown on commit drop as
select * from tieout.shown_transactions($1, $2)
