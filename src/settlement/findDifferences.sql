-- What differs between the movements and what the acquirer settled, one row an order (or batch,
-- where a line names no order) and kind. $1 accounts as json [{account_id, due_until, seen_until}]:
-- overdue up to the first date, seen whole up to the end of the second; $2 settlement.from, $3
-- cut-off, $4 timezone, $5 tariff as json [{account_id, type, parts_per_million, fixed, from,
-- until, tolerance}], $6 decimals of coarse currencies.
create temp table settlement_found on commit drop as
with account as materialized (
  select account_id collate "C" as account_id, due_until, seen_until
  from jsonb_to_recordset($1::jsonb) as a (account_id text, due_until date, seen_until date)
),
since as (select ($2::date + $3::time) at time zone $4 as at),
overdue as (
  select m.account_id, m.order_no, 'not_settled' as kind, m.currency, sum(m.amount) as amount,
    jsonb_build_object('state', string_agg(distinct m.kind, ' and '), 'currency', m.currency,
      'amount', sum(m.amount)::text, 'since', min(m.business_date)::text)
      -- What came in and what went out are no one sum to a reader.
      || case when count(distinct m.kind) = 1 then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'captured', (sum(m.amount) filter (where m.kind = 'captured'))::text,
        'refunded', (sum(m.amount) filter (where m.kind = 'refunded'))::text)) end
      || case when min(m.business_date) = max(m.business_date) then '{}'
        else jsonb_build_object('until', max(m.business_date)::text) end as expected,
    '{}'::jsonb as actual
  from tieout.settlement_awaited w
  join tieout.movements_now m using (movement_id)
  join account a using (account_id)
  where not m.is_history and m.amount is distinct from 0 and m.business_date <= a.due_until
    and not exists (select from tieout.settlement_unmatched u where u.told_of = m.movement_id)
  group by m.account_id, m.order_no, m.currency
),
-- Few: the lines that were not plainly what they settle, or wait and are told of one meanwhile, and
-- movements of which more became known; one row for each currency that they were settled in.
told as (
  select m.movement_id, m.account_id, m.order_no, m.kind, m.currency, m.amount,
    l.currency as settled_in, sum(abs(l.amount)) as settled, count(*) as times,
    string_agg(distinct l.batch, ', ') as batch
  from unnest(tieout.movements_told_of()) o (movement_id)
  join tieout.movements_now m using (movement_id)
  join account a on a.account_id = m.account_id
  cross join lateral tieout.lines_of_movement(m.movement_id) s (settlement_line_id)
  join tieout.settlement_lines l using (settlement_line_id)
  where not m.is_history
  group by m.movement_id, m.account_id, m.order_no, m.kind, m.currency, m.amount, l.currency
),
unequal as (
  select account_id, order_no, kind, settled_in, settled, times, batch,
    -- what never was has no currency of its own
    case when amount = 0 then settled_in else currency end as currency,
    case when amount = 0 or nth = 1 then amount end as worth,
    case when amount = 0 then settled when nth > 1 then null
      when is_other then amount else abs(said - coalesce(amount, 0)) end as off,
    case when amount = 0 then 'settled_not_captured'
      when not is_other and lines > 1 and said > amount then 'settled_twice'
      else 'settlement_amount' end as what
  from (
    select *, coalesce(sum(settled) filter (where settled_in = currency) over of_one, 0) as said,
      bool_or(settled_in <> currency) over of_one as is_other, sum(times) over of_one as lines,
      row_number() over (partition by movement_id order by settled_in) as nth
    from told
    window of_one as (partition by movement_id)
  ) t
  where is_other or said is distinct from amount
),
part as (
  select account_id, order_no, what, currency, kind, settled_in, sum(off) as off,
    sum(worth) as worth, sum(settled) as settled, sum(times) as times
  from unequal
  group by account_id, order_no, what, currency, kind, settled_in
),
batches as (
  select account_id, order_no, what, currency, string_agg(distinct batch, ', ') as batch
  from unequal
  group by account_id, order_no, what, currency
),
-- A capture and a refund of one order may both differ: what is at stake is all of it. Where sums do
-- not say that, since one makes up for the other or they were settled in two currencies, each is
-- said by itself, and what they differ by in all.
odd as (
  select account_id, order_no, what as kind, currency, off as amount,
    jsonb_strip_nulls(jsonb_build_object('state', state, 'currency', currency,
      'amount', worth::text)
      || case when is_apart and of_kinds > 1 then jsonb_build_object(
        'captured', captured::text, 'refunded', refunded::text) else '{}' end) as expected,
    jsonb_build_object('batch', batch, 'times', times)
      || case when of_currencies > 1 then '{}'
        else jsonb_build_object('currency', settled_in, 'amount', settled::text) end
      || case when is_apart then jsonb_strip_nulls(jsonb_build_object(
        'parts', parts, 'off', off::text)) else '{}' end as actual
  from (
    select account_id, order_no, what, currency, sum(off) as off, sum(worth) as worth,
      sum(worth) filter (where kind = 'captured') as captured,
      sum(worth) filter (where kind = 'refunded') as refunded,
      string_agg(distinct kind, ' and ') as state, count(distinct kind) as of_kinds,
      count(distinct settled_in) as of_currencies, max(settled_in) as settled_in,
      sum(settled) as settled, sum(times) as times,
      jsonb_agg(jsonb_build_object('state', kind, 'currency', settled_in,
        'amount', settled::text) order by kind, settled_in) as parts,
      count(distinct settled_in) > 1 or sum(off) is distinct from
        case when max(settled_in) = currency then abs(sum(settled) - sum(worth))
          else sum(worth) end as is_apart
    from part
    group by account_id, order_no, what, currency
  ) p
  join batches using (account_id, order_no, what, currency)
),
newest_look as (
  select distinct on (r.account_id) r.account_id, r.pull_id
  from tieout.run_accounts r join account using (account_id)
  where r.pull_id is not null
  order by r.account_id, r.business_date desc
),
-- Lines without a movement, that a look after them would have shown. What may still mean a movement
-- without a line waits. What equals one that was settled already is told of that one, at once.
lost as materialized (
  select l.*, coalesce(c.candidates, 0) > 0 as is_moved, coalesce(c.is_twice, false) as is_twice
  from tieout.settlement_unmatched u
  join tieout.settlement_lines l using (settlement_line_id)
  join account a using (account_id)
  cross join since
  left join lateral (
    select way, count(*) as candidates, count(w.movement_id) as awaited,
      bool_or(n.amount = abs(l.amount) and n.currency = l.currency) as is_twice
    from (
      select 1 as way, movement_id from tieout.movements
      where account_id = l.account_id and reference = l.reference and kind = l.type
      union all
      select 2, movement_id from tieout.movements
      where account_id = l.account_id and transaction_id = l.transaction_id and kind = l.type
      union all
      select 3, movement_id from tieout.movements
      where account_id = l.account_id and order_no = l.order_no and kind = l.type
    ) m
    join tieout.movements_now n using (movement_id)
    left join tieout.settlement_awaited w using (movement_id)
    where n.amount is distinct from 0
    group by way
    -- as it is matched: by the best way alone
    order by way
    limit 1
  ) c on true
  where l.booked_at >= since.at and u.told_of is null
    and tieout.business_date_of(l.booked_at, $3::time, $4) <= a.seen_until
    and coalesce(c.awaited, 0) = 0
),
-- What ledger, movements and newest look know of their orders. By a transaction alone neither
-- ledger nor look are found by an index: read whole, and only where there are such lines.
known as materialized (
  select l.settlement_line_id, o.order_no::text collate "C" as order_no,
    tieout.instant_in(o.placed_at) as placed_at
  from lost l
  join ledger.orders o on o.account_id::text collate "C" = l.account_id
    and o.order_no::text collate "C" = l.order_no
  union all
  select l.settlement_line_id, o.order_no::text collate "C" as order_no,
    tieout.instant_in(o.placed_at) as placed_at
  from lost l
  join ledger.orders o on o.account_id::text collate "C" = l.account_id
    and o.transaction_id::text collate "C" = l.transaction_id
  where exists (select from lost)
  union all
  select l.settlement_line_id, m.order_no, null
  from lost l join tieout.movements m on m.account_id = l.account_id
    and m.transaction_id = l.transaction_id
  union all
  select l.settlement_line_id, m.order_no, null
  from lost l join tieout.movements m on m.account_id = l.account_id and m.order_no = l.order_no
  union all
  select l.settlement_line_id, entry.order_no, null
  from lost l
  join newest_look n using (account_id)
  -- The offset keeps this walk of an index: joined, all snapshots would be read.
  cross join lateral (
    select e.order_no, e.found from tieout.look_entries e
    where e.pull_id = n.pull_id and e.account_id = n.account_id and e.order_no = l.order_no
      and not e.is_extra
    offset 0
  ) entry
  where entry.found
  union all
  select l.settlement_line_id, entry.order_no, null
  from newest_look n
  cross join lateral (
    -- each half of the entries has an index of its own
    (select e.order_no, e.transaction_id, e.found from tieout.look_entries e
    where e.pull_id = n.pull_id and e.account_id = n.account_id and not e.is_extra
      and exists (select from lost where account_id = n.account_id)
    offset 0)
    union all
    (select e.order_no, e.transaction_id, e.found from tieout.look_entries e
    where e.pull_id = n.pull_id and e.account_id = n.account_id and e.is_extra
      and exists (select from lost where account_id = n.account_id)
    offset 0)
  ) entry
  join lost l on l.account_id = n.account_id and l.transaction_id = entry.transaction_id
  where entry.found
),
placed as (
  select l.*, k.settlement_line_id is not null as is_known, k.placed_at,
    coalesce(k.order_no, l.order_no, 'batch ' || l.batch) as place
  from lost l
  left join (
    select settlement_line_id, min(order_no) as order_no, min(placed_at) as placed_at
    from known group by settlement_line_id
  ) k using (settlement_line_id)
),
-- Where the night could not look, nobody knows more than before: what is open stays as it is, and
-- nothing opens. What nobody knows may be in any answer that failed.
judged as materialized (
  select p.*, b.open_kinds, case when p.is_moved and p.is_twice then 'settled_twice'
      when p.is_known then 'settled_not_captured' else 'settled_unknown' end as seems,
    coalesce(n.pull_id is not null and (
      exists (
        select from tieout.asked_orders q
        left join tieout.pages g using (pull_id, account_id, page_no)
        where q.pull_id = n.pull_id and q.account_id = p.account_id and q.order_no = p.place
          and g.state is distinct from 'answered')
      or not p.is_known and exists (
        select from tieout.pages g
        where g.pull_id = n.pull_id and g.account_id = p.account_id and g.state = 'failed')
    ), false) as is_blind
  from placed p
  left join newest_look n using (account_id)
  left join lateral (
    select array_agg(kind order by kind) as open_kinds from tieout.breaks
    where account_id = p.account_id and order_no = p.place and state <> 'resolved'
      and kind in ('settled_not_captured', 'settled_unknown', 'settled_twice')
  ) b on true
),
-- An order of before is history, as long as the gateway does not show that nothing was captured.
told_lost as (
  select *, case when is_blind and seems <> all (open_kinds) then open_kinds[1] else seems end
      as what
  from judged p
  cross join since
  where (not is_blind or open_kinds is not null)
    and (is_moved or p.placed_at is null or p.placed_at >= since.at or exists (
      select from tieout.look_entries e
      where e.pull_id = tieout.newest_look(p.account_id, p.place) and e.account_id = p.account_id
        and e.order_no = p.place and not e.is_extra and e.found
        and e.state in ('pending', 'in_review', 'authorised', 'cancelled', 'declined')))
),
-- A capture and a refund that nobody knows do not make up for each other: at stake is all of it.
unknown as (
  select account_id, place as order_no, what as kind, currency, sum(abs(amount)) as amount,
    case when what = 'settled_twice' then jsonb_build_object('state',
      string_agg(distinct type, ' and '), 'currency', currency, 'amount', sum(abs(amount))::text)
      else '{}'::jsonb end as expected,
    jsonb_build_object('state', string_agg(distinct type, ' and '), 'currency', currency, 'amount',
      (sum(abs(amount)) * case when what = 'settled_twice' then 2 else 1 end)::text,
      'batch', string_agg(distinct batch, ', '),
      'times', count(*) * case when what = 'settled_twice' then 2 else 1 end)
      || case when what = 'settled_twice' or count(distinct type) = 1 then '{}'
        else jsonb_build_object(
          'captured', (sum(abs(amount)) filter (where type = 'captured'))::text,
          'refunded', (sum(abs(amount)) filter (where type = 'refunded'))::text) end as actual
  from told_lost
  group by account_id, place, currency, what
),
charged as (
  select n.account_id, n.place as order_no, 'charged_back' as kind, n.currency,
    -sum(n.amount) as amount,
    jsonb_build_object('currency', n.currency, 'amount', '0.00') as expected,
    jsonb_build_object('currency', n.currency, 'amount', (-sum(n.amount))::text,
      'batch', string_agg(n.batches, ', '), 'times', sum(n.lines)) as actual
  from tieout.not_reversed(array(
    select l.settlement_line_id from tieout.settlement_lines l
    join account using (account_id)
    cross join since
    where l.type in ('chargeback', 'chargeback_reversed') and l.booked_at >= since.at)) n
  group by n.account_id, n.place, n.currency
),
agreed as (
  select l.settlement_line_id, l.account_id, l.batch, l.settle_currency as currency, l.fee,
    t.tolerance,
    tieout.agreed_fee(l.gross, l.settle_currency, t.parts_per_million, t.fixed, $6::jsonb) as agreed
  from jsonb_to_recordset($5::jsonb) as t (account_id text, type text, parts_per_million numeric,
    fixed jsonb, "from" date, until date, tolerance numeric)
  join tieout.settlement_lines l
    on l.account_id = t.account_id collate "C" and l.type = t.type
  join account a on a.account_id = l.account_id
  cross join since
  where l.booked_at >= since.at
    and tieout.business_date_of(l.booked_at, $3::time, $4) >= t."from"
    and (t.until is null or tieout.business_date_of(l.booked_at, $3::time, $4) < t.until)
),
overcharged as (
  select o.account_id, p.place as order_no, 'fee_variance' as kind, o.currency,
    sum(abs(o.fee - o.agreed)) as amount,
    jsonb_build_object('currency', o.currency, 'amount', sum(o.agreed)::text) as expected,
    jsonb_build_object('currency', o.currency, 'amount', sum(o.fee)::text,
      'batch', string_agg(distinct o.batch, ', '), 'times', count(*))
      -- Lines that differ in opposite ways do not make up for each other.
      || case when abs(sum(o.fee - o.agreed)) = sum(abs(o.fee - o.agreed)) then '{}'
        else jsonb_build_object('off', sum(abs(o.fee - o.agreed))::text) end as actual
  from agreed o
  join tieout.settlement_lines l using (settlement_line_id)
  cross join lateral (select tieout.place_of_line(l) as place offset 0) p
  where abs(o.fee - o.agreed) > o.tolerance
  group by o.account_id, p.place, o.currency
),
found as (
  select * from overdue union all select * from odd union all select * from unknown
  union all select * from charged union all select * from overcharged
)
-- An order that has it in two currencies has it once, and in one currency all of it. What no break
-- can hold has no amount: lines are taken for good, and would end every night from then on.
select distinct on (account_id, order_no, kind) account_id, order_no, kind, currency,
  case when amount < 1e18 then amount end as amount, expected, actual
from (
  select account_id, order_no, kind, currency, sum(amount) as amount,
    (jsonb_agg(expected order by amount desc nulls last, expected::text)) -> 0
      || case when count(*) = 1 then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'amount', sum((expected ->> 'amount')::numeric)::text)) end as expected,
    -- what one row settled of each is not what all of them did
    ((jsonb_agg(actual order by amount desc nulls last, actual::text)) -> 0)
      - case when count(*) = 1 then '{}'::text[] else '{captured,refunded}' end
      || case when count(*) = 1 then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'amount', sum((actual ->> 'amount')::numeric)::text,
        'batch', string_agg(actual ->> 'batch', ', ' order by actual ->> 'batch'),
        'times', sum((actual ->> 'times')::int))) end as actual
  from found
  group by account_id, order_no, kind, currency
) merged
order by account_id, order_no, kind, merged.amount desc nulls last, currency
