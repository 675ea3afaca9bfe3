-- Up Migration
-- Every transaction that a run saw whole, as its newest snapshot shows it: found, with a state, an
-- amount and a currency, and never told of in two ways. What the book of movements is kept by and
-- worked out again. A later snapshot of what was sent comes before that of the night; an order that
-- it did not bring stands as the night showed it.
create function tieout.shown_transactions(run bigint, accounts text[])
returns table (account_id text, order_no text, transaction_id text, state text, currency text,
  amount numeric, transaction_at timestamptz, pull_id bigint)
language sql stable as $$
  with look as materialized (
    select account_id, pull_id as night from tieout.run_accounts
    where run_id = run and account_id = any (accounts) and pull_id is not null
  ),
  later as materialized (
    select distinct on (e.account_id, e.order_no) e.account_id, e.order_no, e.pull_id
    from look
    join tieout.pulls p on p.run_id = run and p.kind = 'confirm' and p.pull_id > look.night
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = p.pull_id and account_id = look.account_id and not is_extra
      offset 0
    ) e
    order by e.account_id, e.order_no, e.pull_id desc
  ),
  plain as (
    select e.* from look
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = look.night and account_id = look.account_id and not is_extra
      offset 0
    ) e
    where (e.account_id, e.order_no) not in (select account_id, order_no from later)
    union all
    select e.* from later
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = later.pull_id and account_id = later.account_id
        and order_no = later.order_no and not is_extra
      offset 0
    ) e
  ),
  extra as materialized (
    select e.* from look
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = look.night and account_id = look.account_id and is_extra
      offset 0
    ) e
    where (e.account_id, e.order_no) not in (select account_id, order_no from later)
    union all
    select e.* from later
    cross join lateral (
      select * from tieout.look_entries
      where pull_id = later.pull_id and account_id = later.account_id
        and order_no = later.order_no and is_extra
      offset 0
    ) e
  ),
  torn as materialized (
    select account_id, order_no, transaction_id
    from (
      select account_id, order_no, transaction_id, found, state, currency, amount from extra
      union all
      select e.account_id, e.order_no, e.transaction_id, p.found, p.state, p.currency, p.amount
      from extra e join tieout.look_entries p
        on p.pull_id = e.pull_id and p.account_id = e.account_id and p.order_no = e.order_no
          and not p.is_extra and p.transaction_id = e.transaction_id
    ) told
    where transaction_id is not null
    group by 1, 2, 3
    having count(distinct row(found, state, currency, amount)) > 1
  )
  select account_id, order_no, transaction_id, state, currency, amount, transaction_at, pull_id
  from (select * from plain union all select * from extra) e
  where found and transaction_id <> '' and state is not null and amount > 0 and currency <> ''
    and (account_id, order_no, transaction_id) not in (
      select account_id, order_no, transaction_id from torn)
$$;

-- Down Migration
drop function tieout.shown_transactions(bigint, text[]);
