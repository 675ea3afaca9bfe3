-- Up Migration
-- Every amount of an order bears its own currency, and what each side says of its money: captured
-- and refunded by the ledger, captured and refunded at the gateway. One home for the file of all
-- orders, for the sums of the first sheets and for the lines of the statement.
drop function tieout.seen_orders(bigint, text, bigint);

-- All orders of an account of a run in the order of their numbers: the ledger's row, the newest
-- entry, the class. `currency` is the order's: the ledger's, else the gateway's. An amount of the
-- ledger is in ledger_currency, one of the gateway in gateway_currency.
--
-- Captured by the ledger: what was to be captured of an order expected captured. Refunded by it:
-- the requests of such an order. Captured at the gateway: the transactions in a state in which
-- money was taken; of a part that we captured, that part. Refunded there: all of it where the state
-- says so; of a part, which the gateway does not tell, the requests that count as done.
create function tieout.seen_orders(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, class text, kinds text[], expected text,
  gateway_state text, payment_status text, currency text, ledger_currency text,
  ledger_amount numeric, gateway_currency text, gateway_amount numeric, gateway_amount_text text,
  transaction_id text, transaction_date text, placed_at timestamptz, ledger_captured numeric,
  ledger_refunded numeric, gateway_captured numeric, gateway_refunded numeric)
language sql stable as $$
  with again as materialized (
    -- Orders with more than one entry, or looked at again after sending: few. Each half of the
    -- entries has an index of its own. A later snapshot of all orders that was cut short is of no
    -- account.
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from tieout.pulls p
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
        and not is_extra
      offset 0
    ) e
    where p.run_id = run and p.pull_id > snapshot and p.kind = 'confirm'
    union all
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from tieout.pulls p
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
        and is_extra
      offset 0
    ) e
    where p.run_id = run and (p.pull_id = snapshot or p.pull_id > snapshot and p.kind = 'confirm')
    union all
    select e.pull_id, e.order_no, e.state, e.payment_status, e.currency, e.amount, e.amount_text,
      e.transaction_id, e.transaction_date, e.transaction_at
    from (
      select distinct order_no from tieout.look_entries
      where pull_id = snapshot and account_id = account and is_extra
    ) crowded
    cross join lateral (
      select * from tieout.look_entries where pull_id = snapshot and account_id = account
        and order_no = crowded.order_no and not is_extra
      offset 0
    ) e
  ),
  special as materialized (
    select distinct on (order_no) pull_id, order_no, state, payment_status, currency, amount,
      amount_text, transaction_id, transaction_date
    from again
    order by order_no, pull_id desc, coalesce(state, '') in ('cancelled', 'declined'),
      transaction_at desc nulls last, transaction_id desc
  ),
  -- what was taken by several transactions of one order, in the currency that its line shows
  taken as materialized (
    select order_no, sum(amount) as captured,
      sum(amount) filter (where state = 'refunded') as refunded
    from (
      select distinct on (order_no, a.transaction_id) order_no, a.state, a.amount
      from special s join again a using (order_no, pull_id)
      where a.state in ('captured', 'partially_refunded', 'refunded')
        and a.currency is not distinct from s.currency
      order by order_no, a.transaction_id, a.state
    ) as one
    group by order_no having count(*) > 1
  ),
  known as materialized (
    select coalesce(r.finished_at, 'infinity') as until, (
      select (a ->> 'liveFrom')::timestamptz
      from jsonb_array_elements(r.settings -> 'accounts') a
      where a ->> 'accountId' = account limit 1) as live_from
    from tieout.runs r where r.run_id = run
  ),
  -- of orders with requests: few
  refund as materialized (
    select r.order_no, sum(r.refund_amount) as requested,
      sum(case when r.requested_at < known.live_from then r.refund_amount
        else paid.refund_amount end) as done
    from tieout.asked_refunds r
    cross join known
    left join lateral (
      select i.refund_amount from tieout.instructions i
      where i.account_id = account and i.refund_id = r.refund_id and i.operation = 'refund'
        and i.state = 'confirmed' and not i.is_void and i.settled_at <= known.until
      offset 0
    ) paid on true
    where r.pull_id = snapshot and r.account_id = account
    group by r.order_no
  ),
  -- of orders of which we captured a part: few
  part as materialized (
    select distinct on (i.order_no) i.order_no, i.transaction_id, i.amount
    from tieout.instructions i
    cross join known
    where i.account_id = account and i.is_part and i.operation = 'capture'
      and i.state = 'confirmed' and i.settled_at <= known.until
    order by i.order_no, i.instruction_id desc
  )
  select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
    e.state as gateway_state, e.payment_status, coalesce(o.currency, e.currency) as currency,
    o.currency as ledger_currency, o.amount as ledger_amount, e.currency as gateway_currency,
    e.amount as gateway_amount,
    -- of an amount that lacks the printed shape
    e.amount_text as gateway_amount_text, e.transaction_id, e.transaction_date, o.placed_at,
    case when o.expected = 'captured' and o.currency is not null
      then coalesce(o.capture_amount, o.amount) end as ledger_captured,
    case when o.expected = 'captured' and o.currency is not null
      then refund.requested end as ledger_refunded,
    case when e.state in ('captured', 'partially_refunded', 'refunded') and e.currency is not null
      then coalesce(taken.captured, mine.amount, e.amount) end as gateway_captured,
    case when e.currency is null then null
      when e.state = 'refunded' then coalesce(taken.refunded, mine.amount, e.amount)
      when e.state = 'partially_refunded'
        then coalesce(refund.done, 0) + coalesce(taken.refunded, 0)
    end as gateway_refunded
  from tieout.asked_orders o
  left join tieout.look_entries p
    on p.pull_id = snapshot and p.account_id = account and p.order_no = o.order_no
      and not p.is_extra
  left join special s on s.order_no = o.order_no
  cross join lateral (
    select case when s.order_no is null then p.state else s.state end as state,
      case when s.order_no is null then p.payment_status else s.payment_status end
        as payment_status,
      case when s.order_no is null then p.currency else s.currency end as currency,
      case when s.order_no is null then p.amount else s.amount end as amount,
      case when s.order_no is null then p.amount_text else s.amount_text end as amount_text,
      case when s.order_no is null then p.transaction_id else s.transaction_id end
        as transaction_id,
      case when s.order_no is null then p.transaction_date else s.transaction_date end
        as transaction_date
  ) e
  left join taken on taken.order_no = o.order_no
  left join refund on refund.order_no = o.order_no
  left join part on part.order_no = o.order_no
  cross join lateral (
    select case when part.transaction_id = e.transaction_id then part.amount end as amount
  ) mine
  left join tieout.verdicts v
    on v.run_id = run and v.account_id = account and v.order_no = o.order_no
  where o.pull_id = snapshot and o.account_id = account
  order by o.order_no
$$;

-- The lines of the statement: each order of which the two sides say different money, with what
-- explains it. An order whose two sides differ in currency has a line in each. `item` is the class,
-- of what is due and waits for approval `held`, of what is broken the kind of its break; of what
-- the compare calls matched only what it is known to call so; anything else is unexplained. Few,
-- and all orders are walked by their indexes to find them.
create function tieout.statement_lines(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, currency text, item text, break_id bigint,
  first_seen timestamptz, owner text, ledger_captured numeric, gateway_captured numeric,
  ledger_refunded numeric, gateway_refunded numeric, transaction_id text)
language sql stable
set enable_hashjoin = off set enable_nestloop = off set max_parallel_workers_per_gather = 0
set jit = off as $$
  with differing as materialized (
    select o.*, o.ledger_currency is distinct from o.gateway_currency as is_foreign
    from tieout.seen_orders(run, account, snapshot) o
    where coalesce(o.ledger_captured, 0) <> coalesce(o.gateway_captured, 0)
      or coalesce(o.ledger_refunded, 0) <> coalesce(o.gateway_refunded, 0)
      or (o.ledger_currency <> o.gateway_currency
        and (o.ledger_captured <> 0 or o.gateway_captured <> 0))
  ),
  told as materialized (
    select d.*, b.break_id, b.first_seen, b.owner, case d.class
        when 'matched' then case
          when d.expected = 'cancelled' then 'taken_of_cancelled'
          when d.ledger_captured < d.ledger_amount and d.gateway_captured = d.ledger_amount
            and not d.is_foreign then 'shown_whole'
          else 'unexplained' end
        when 'due' then case when exists (
            select from tieout.instructions i
            where i.account_id = d.account_id and i.order_no = d.order_no and i.is_open
              and i.state = 'held') then 'held' else 'due' end
        when 'broken' then coalesce(b.kind, 'broken')
        else d.class end as item
    from differing d
    left join lateral (
      select b.break_id, b.kind, b.first_seen, b.owner from tieout.breaks b
      where d.class in ('broken', 'explained') and b.account_id = d.account_id
        and b.order_no = d.order_no and not tieout.stands_apart(b.kind)
      order by b.kind = any (d.kinds) desc, b.state = 'open' desc,
        b.kind = 'currency_mismatch' desc,
        b.kind in ('amount_mismatch', 'stale_authorisation'), b.kind
      limit 1
    ) b on true
  )
  select account_id, order_no, currency, item, break_id, first_seen, owner, ledger_captured,
    gateway_captured, ledger_refunded, gateway_refunded, transaction_id
  from (
    -- one side alone, or both in one currency
    select account_id, order_no,
      case when ledger_captured is null and ledger_refunded is null then gateway_currency
        else ledger_currency end as currency,
      item, break_id, first_seen, owner, ledger_captured, gateway_captured, ledger_refunded,
      gateway_refunded, transaction_id
    from told
    where not is_foreign or (ledger_captured is null and ledger_refunded is null)
      or (gateway_captured is null and gateway_refunded is null)
    union all
    select account_id, order_no, ledger_currency, item, break_id, first_seen, owner,
      ledger_captured, null, ledger_refunded, null, transaction_id
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, gateway_currency, item, break_id, first_seen, owner,
      null, gateway_captured, null, gateway_refunded, transaction_id
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
  ) as line
  order by currency, item, first_seen, order_no
$$;

-- The statement of a workbook by account and currency: what each side says, what explains the
-- difference, and what is left. One that a later revision says otherwise stays.
create table tieout.statements (
  report_id bigint not null references tieout.reports on delete cascade,
  account_id text collate "C" not null,
  currency text not null,
  ledger_captured numeric not null,
  ledger_refunded numeric not null,
  gateway_captured numeric not null,
  gateway_refunded numeric not null,
  -- [{item, lines, captured, refunded}]
  items jsonb not null,
  unexplained_captured numeric not null,
  unexplained_refunded numeric not null,
  primary key (report_id, account_id, currency)
);

-- Down Migration
drop table tieout.statements;
drop function tieout.statement_lines(bigint, text, bigint);
drop function tieout.seen_orders(bigint, text, bigint);
create function tieout.seen_orders(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, class text, kinds text[], expected text,
  gateway_state text, payment_status text, currency text, ledger_amount numeric,
  gateway_amount numeric, gateway_amount_text text, transaction_id text, transaction_date text,
  placed_at timestamptz)
language sql stable as $$
  with special as materialized (
    -- Orders with more than one entry, or looked at again after sending: few. Each half of the
    -- entries has an index of its own. A later snapshot of all orders that was cut short is of no
    -- account.
    select distinct on (order_no) order_no, state, payment_status, currency, amount, amount_text,
      transaction_id, transaction_date
    from (
      select again.* from tieout.pulls p
      -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
      cross join lateral (
        select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
          and not is_extra
        offset 0
      ) again
      where p.run_id = run and p.pull_id > snapshot and p.kind = 'confirm'
      union all
      select extra.* from tieout.pulls p
      cross join lateral (
        select * from tieout.look_entries where pull_id = p.pull_id and account_id = account
          and is_extra
        offset 0
      ) extra
      where p.run_id = run and (p.pull_id = snapshot or p.pull_id > snapshot and p.kind = 'confirm')
      union all
      select plain.* from (
        select distinct order_no from tieout.look_entries
        where pull_id = snapshot and account_id = account and is_extra
      ) crowded
      cross join lateral (
        select * from tieout.look_entries where pull_id = snapshot and account_id = account
          and order_no = crowded.order_no and not is_extra
        offset 0
      ) plain
    ) e
    order by order_no, pull_id desc, coalesce(state, '') in ('cancelled', 'declined'),
      transaction_at desc nulls last, transaction_id desc
  )
  select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
    case when s.order_no is null then e.state else s.state end as gateway_state,
    case when s.order_no is null then e.payment_status else s.payment_status end as payment_status,
    coalesce(o.currency, s.currency, e.currency) as currency, o.amount as ledger_amount,
    case when s.order_no is null then e.amount else s.amount end as gateway_amount,
    -- of an amount that lacks the printed shape
    case when s.order_no is null then e.amount_text else s.amount_text end as gateway_amount_text,
    case when s.order_no is null then e.transaction_id else s.transaction_id end as transaction_id,
    case when s.order_no is null then e.transaction_date else s.transaction_date end
      as transaction_date,
    o.placed_at
  from tieout.asked_orders o
  left join tieout.look_entries e
    on e.pull_id = snapshot and e.account_id = account and e.order_no = o.order_no
      and not e.is_extra
  left join special s on s.order_no = o.order_no
  left join tieout.verdicts v
    on v.run_id = run and v.account_id = account and v.order_no = o.order_no
  where o.pull_id = snapshot and o.account_id = account
  order by o.order_no
$$;
