-- Up Migration
-- What the gateway shows of the orders of a night, in a report that is written after `tieout send`:
-- with what moved after its look, so that its statement, its business day and the books of
-- settlement say the same, and nothing of it waits.

-- Captures and refunds of the date of a run, or of one before it, that were sent or proved to have
-- moved after the look at the account, and that no look of the run shows. The end of the run says
-- nothing of one account: a run is taken up again for others.
create function tieout.moved_after(run bigint, account text)
returns table (order_no text, operation text, currency text, amount numeric, belongs_to date,
  counts_on date, posted_at timestamptz)
language sql stable rows 100 as $$
  with night as materialized (
    select r.business_date, ra.pull_id, p.as_of,
      case when r.state = 'running' then 'infinity'
        else coalesce(r.finished_at, 'infinity') end as until
    from tieout.runs r
    join tieout.run_accounts ra using (run_id)
    join tieout.pulls p on p.pull_id = ra.pull_id
    where r.run_id = run and ra.account_id = account and not r.is_dry
  ),
  own as materialized (
    select p.pull_id from tieout.pulls p cross join night n
    where p.run_id = run
      and (p.pull_id = n.pull_id or p.pull_id > n.pull_id and p.kind = 'confirm')
  )
  select m.order_no, m.operation, m.currency, m.amount, m.belongs_to, m.posted_to, m.posted_at
  from night n
  -- What the night plainly matched has no verdict, and nothing under way. The offsets keep these
  -- one walk of an index each.
  cross join lateral (
    select d.order_no from tieout.verdicts d
    where d.run_id = run and d.account_id = account
    offset 0
  ) v
  cross join lateral (
    select o.instruction_id, o.transaction_id, o.settled_at from tieout.instructions o
    where o.account_id = account and o.order_no = v.order_no
      and o.operation in ('capture', 'refund') and o.state = 'confirmed'
      and o.settled_at > n.as_of
    offset 0
  ) i
  cross join lateral (
    select * from tieout.day_movements d
    where d.instruction_id = i.instruction_id and d.belongs_to <= n.business_date
    offset 0
  ) m
  where not exists (
    select from own p
    cross join lateral (
      select e.state from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = account and e.order_no = m.order_no
        and not e.is_extra and e.transaction_id = i.transaction_id
      union all
      select e.state from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = account and e.order_no = m.order_no
        and e.is_extra and e.transaction_id = i.transaction_id
    ) e
    where e.state = 'refunded'
      or m.operation = 'capture' and e.state in ('captured', 'partially_refunded')
      -- `done` of tieout.seen_orders has it
      or m.operation = 'refund' and e.state = 'partially_refunded' and i.settled_at <= n.until
  )
$$;

create or replace function tieout.seen_orders(run bigint, account text, snapshot bigint)
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
      coalesce(state, '') not in ('captured', 'partially_refunded', 'refunded'),
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
    -- a night that is taken up again has no end, whenever it ended before
    select case when r.state = 'running' then 'infinity'
        else coalesce(r.finished_at, 'infinity') end as until, (
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
    where i.account_id = account and i.is_part and i.operation = 'capture'
      and i.state = 'confirmed'
    order by i.order_no, i.instruction_id desc
  ),
  -- few
  moved as materialized (
    select m.order_no, m.currency, sum(m.amount) filter (where m.operation = 'capture') as captured,
      sum(m.amount) filter (where m.operation = 'refund') as refunded
    from tieout.moved_after(run, account) m
    group by m.order_no, m.currency
  )
  select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
    e.state as gateway_state, e.payment_status, coalesce(o.currency, e.currency) as currency,
    o.currency as ledger_currency, o.amount as ledger_amount,
    coalesce(e.currency, moved.currency) as gateway_currency, e.amount as gateway_amount,
    -- of an amount that lacks the printed shape
    e.amount_text as gateway_amount_text, e.transaction_id, e.transaction_date, o.placed_at,
    case when o.expected = 'captured' and o.currency is not null
      then coalesce(o.capture_amount, o.amount) end as ledger_captured,
    case when o.expected = 'captured' and o.currency is not null
      then refund.requested end as ledger_refunded,
    coalesce(shown.captured + coalesce(moved.captured, 0), moved.captured) as gateway_captured,
    coalesce(shown.refunded + coalesce(moved.refunded, 0), moved.refunded) as gateway_refunded
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
  -- by the looks of the night
  cross join lateral (
    select case when e.state in ('captured', 'partially_refunded', 'refunded')
        and e.currency is not null
        then coalesce(taken.captured, mine.amount, e.amount) end as captured,
      case when e.currency is null then null
        when e.state = 'refunded' then coalesce(taken.refunded, mine.amount, e.amount)
        when e.state = 'partially_refunded'
          then coalesce(refund.done, 0) + coalesce(taken.refunded, 0)
      end as refunded
  ) shown
  -- also of an order that the night did not get to see
  left join moved on moved.order_no = o.order_no
    and moved.currency = coalesce(e.currency, o.currency)
  left join tieout.verdicts v
    on v.run_id = run and v.account_id = account and v.order_no = o.order_no
  where o.pull_id = snapshot and o.account_id = account
  order by o.order_no
$$;

-- Down Migration
create or replace function tieout.seen_orders(run bigint, account text, snapshot bigint)
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
      coalesce(state, '') not in ('captured', 'partially_refunded', 'refunded'),
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
    -- a night that is taken up again has no end, whenever it ended before
    select case when r.state = 'running' then 'infinity'
        else coalesce(r.finished_at, 'infinity') end as until, (
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

drop function tieout.moved_after(bigint, text);
