-- Up Migration
-- On a statement that is written once more after the send: what the ledger has cancelled, and was
-- given back since, waits for nothing. It stood as what comes with the next run.
create or replace function tieout.statement_lines(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, currency text, item text, break_id bigint,
  first_seen timestamptz, owner text, ledger_captured numeric, gateway_captured numeric,
  ledger_refunded numeric, gateway_refunded numeric, transaction_id text, hold_reason text)
language sql stable
set enable_hashjoin = off set enable_nestloop = off set max_parallel_workers_per_gather = 0
set jit = off as $$
  with differing as materialized (
    select o.*, o.ledger_currency is distinct from o.gateway_currency as is_foreign, it.differs
    from tieout.seen_orders(run, account, snapshot) o
    cross join lateral (
      select coalesce(o.ledger_captured, 0) <> coalesce(o.gateway_captured, 0)
        or coalesce(o.ledger_refunded, 0) <> coalesce(o.gateway_refunded, 0)
        or coalesce(o.ledger_currency <> o.gateway_currency
          and (o.ledger_captured <> 0 or o.gateway_captured <> 0), false)
        or coalesce(o.gateway_state = 'partially_refunded'
          and 'refund_mismatch' = any (o.kinds), false) as differs
    ) it
    -- what moved after the night is listed also where nothing differs any more
    where it.differs or o.order_no in (select m.order_no from tieout.moved_after(run, account) m)
  ),
  told as materialized (
    select d.*, b.break_id, b.first_seen, b.owner, i.hold_reason,
      -- refunds that were asked and are not the turn of the instruction, whatever became of it
      case when coalesce(i.state, later.state) is not null and not d.is_foreign
        then greatest(0, coalesce(d.ledger_refunded, 0) - coalesce(d.gateway_refunded, 0)
          - coalesce(i.back, 0) - coalesce(later.back, 0))
        else 0 end as rest,
      -- beside a line of the other kind: of a capture of a later date what is asked back, else what
      -- went back on one
      case when i.state is null or later.state is null or d.is_foreign then 0
        when later.has_capture then i.back else later.back end as aside,
      case when i.state is not null and later.has_capture then own.item else 'moved_later' end
        as aside_item,
      case when not d.differs then 'moved_after' else case d.class
        when 'matched' then case
          when d.expected = 'cancelled' then 'taken_of_cancelled'
          when d.ledger_captured < d.ledger_amount and d.gateway_captured = d.ledger_amount
            and not d.is_foreign then 'shown_whole'
          else 'unexplained' end
        when 'due' then case
          when later.has_capture or i.state is null and later.state is not null
            then 'moved_later'
          when i.state is null and d.expected = 'cancelled' and not d.is_foreign
            and d.gateway_refunded = d.gateway_captured then 'taken_of_cancelled'
          when i.state is null then 'later'
          else own.item end
        when 'broken' then coalesce(b.kind, 'broken')
        else d.class end end as item
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
    -- The open one: an order has no second. Else what a person or the gateway refused since, which
    -- does not come by itself: the next night says so. One from before the look is a break already.
    left join lateral (
      select i.state, i.is_refused, i.hold_reason, coalesce(i.refund_amount, 0) as back
      from tieout.instructions i
      where d.class = 'due' and i.account_id = d.account_id and i.order_no = d.order_no
        and (i.is_open or (i.is_refused or i.state = 'rejected') and i.replan_id is null
          and i.settled_at >= (select p.as_of from tieout.pulls p where p.pull_id = snapshot))
      order by i.is_open desc, i.instruction_id desc
      limit 1
    ) i on true
    cross join lateral (
      select case when i.is_refused then 'refused'
        when i.state in ('held', 'rejected', 'unknown') then i.state else 'due' end as item
    ) own
    -- What moved of it since and belongs to a later date: no later run is waited for.
    left join lateral (
      select 'confirmed' as state, bool_or(m.operation = 'capture') as has_capture,
        coalesce(sum(m.amount) filter (where m.operation = 'refund'), 0) as back
      from tieout.instructions c
      join tieout.day_movements m on m.instruction_id = c.instruction_id
      where d.class = 'due' and c.account_id = d.account_id and c.order_no = d.order_no
        and c.state = 'confirmed'
        and m.belongs_to > (select r.business_date from tieout.runs r where r.run_id = run)
        and m.currency = d.ledger_currency
      having count(*) > 0
    ) later on true
  )
  select account_id, order_no, currency, item, break_id, first_seen, owner, ledger_captured,
    gateway_captured, ledger_refunded, gateway_refunded, transaction_id, hold_reason
  from (
    -- one side alone, or both in one currency
    select account_id, order_no,
      case when ledger_captured is null and ledger_refunded is null then gateway_currency
        else ledger_currency end as currency,
      item, break_id, first_seen, owner, ledger_captured, gateway_captured,
      ledger_refunded - rest - aside as ledger_refunded, gateway_refunded, transaction_id,
      hold_reason
    from told
    where not is_foreign or (ledger_captured is null and ledger_refunded is null)
      or (gateway_captured is null and gateway_refunded is null)
    union all
    select account_id, order_no, ledger_currency, item, break_id, first_seen, owner,
      ledger_captured, null, ledger_refunded, null, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, gateway_currency, item, break_id, first_seen, owner,
      null, gateway_captured, null, gateway_refunded, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, ledger_currency, 'later', null, null, null, null, null, rest,
      null, transaction_id, null
    from told where rest > 0
    union all
    select account_id, order_no, ledger_currency, aside_item, null, null, null, null, null, aside,
      null, transaction_id, hold_reason
    from told where aside > 0
  ) as line
  order by currency, item, first_seen, order_no
$$;

-- Down Migration
create or replace function tieout.statement_lines(run bigint, account text, snapshot bigint)
returns table (account_id text, order_no text, currency text, item text, break_id bigint,
  first_seen timestamptz, owner text, ledger_captured numeric, gateway_captured numeric,
  ledger_refunded numeric, gateway_refunded numeric, transaction_id text, hold_reason text)
language sql stable
set enable_hashjoin = off set enable_nestloop = off set max_parallel_workers_per_gather = 0
set jit = off as $$
  with differing as materialized (
    select o.*, o.ledger_currency is distinct from o.gateway_currency as is_foreign, it.differs
    from tieout.seen_orders(run, account, snapshot) o
    cross join lateral (
      select coalesce(o.ledger_captured, 0) <> coalesce(o.gateway_captured, 0)
        or coalesce(o.ledger_refunded, 0) <> coalesce(o.gateway_refunded, 0)
        or coalesce(o.ledger_currency <> o.gateway_currency
          and (o.ledger_captured <> 0 or o.gateway_captured <> 0), false)
        or coalesce(o.gateway_state = 'partially_refunded'
          and 'refund_mismatch' = any (o.kinds), false) as differs
    ) it
    -- what moved after the night is listed also where nothing differs any more
    where it.differs or o.order_no in (select m.order_no from tieout.moved_after(run, account) m)
  ),
  told as materialized (
    select d.*, b.break_id, b.first_seen, b.owner, i.hold_reason,
      -- refunds that were asked and are not the turn of the instruction, whatever became of it
      case when coalesce(i.state, later.state) is not null and not d.is_foreign
        then greatest(0, coalesce(d.ledger_refunded, 0) - coalesce(d.gateway_refunded, 0)
          - coalesce(i.back, 0) - coalesce(later.back, 0))
        else 0 end as rest,
      -- beside a line of the other kind: of a capture of a later date what is asked back, else what
      -- went back on one
      case when i.state is null or later.state is null or d.is_foreign then 0
        when later.has_capture then i.back else later.back end as aside,
      case when i.state is not null and later.has_capture then own.item else 'moved_later' end
        as aside_item,
      case when not d.differs then 'moved_after' else case d.class
        when 'matched' then case
          when d.expected = 'cancelled' then 'taken_of_cancelled'
          when d.ledger_captured < d.ledger_amount and d.gateway_captured = d.ledger_amount
            and not d.is_foreign then 'shown_whole'
          else 'unexplained' end
        when 'due' then case
          when later.has_capture or i.state is null and later.state is not null
            then 'moved_later'
          when i.state is null then 'later'
          else own.item end
        when 'broken' then coalesce(b.kind, 'broken')
        else d.class end end as item
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
    -- The open one: an order has no second. Else what a person or the gateway refused since, which
    -- does not come by itself: the next night says so. One from before the look is a break already.
    left join lateral (
      select i.state, i.is_refused, i.hold_reason, coalesce(i.refund_amount, 0) as back
      from tieout.instructions i
      where d.class = 'due' and i.account_id = d.account_id and i.order_no = d.order_no
        and (i.is_open or (i.is_refused or i.state = 'rejected') and i.replan_id is null
          and i.settled_at >= (select p.as_of from tieout.pulls p where p.pull_id = snapshot))
      order by i.is_open desc, i.instruction_id desc
      limit 1
    ) i on true
    cross join lateral (
      select case when i.is_refused then 'refused'
        when i.state in ('held', 'rejected', 'unknown') then i.state else 'due' end as item
    ) own
    -- What moved of it since and belongs to a later date: no later run is waited for.
    left join lateral (
      select 'confirmed' as state, bool_or(m.operation = 'capture') as has_capture,
        coalesce(sum(m.amount) filter (where m.operation = 'refund'), 0) as back
      from tieout.instructions c
      join tieout.day_movements m on m.instruction_id = c.instruction_id
      where d.class = 'due' and c.account_id = d.account_id and c.order_no = d.order_no
        and c.state = 'confirmed'
        and m.belongs_to > (select r.business_date from tieout.runs r where r.run_id = run)
        and m.currency = d.ledger_currency
      having count(*) > 0
    ) later on true
  )
  select account_id, order_no, currency, item, break_id, first_seen, owner, ledger_captured,
    gateway_captured, ledger_refunded, gateway_refunded, transaction_id, hold_reason
  from (
    -- one side alone, or both in one currency
    select account_id, order_no,
      case when ledger_captured is null and ledger_refunded is null then gateway_currency
        else ledger_currency end as currency,
      item, break_id, first_seen, owner, ledger_captured, gateway_captured,
      ledger_refunded - rest - aside as ledger_refunded, gateway_refunded, transaction_id,
      hold_reason
    from told
    where not is_foreign or (ledger_captured is null and ledger_refunded is null)
      or (gateway_captured is null and gateway_refunded is null)
    union all
    select account_id, order_no, ledger_currency, item, break_id, first_seen, owner,
      ledger_captured, null, ledger_refunded, null, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, gateway_currency, item, break_id, first_seen, owner,
      null, gateway_captured, null, gateway_refunded, transaction_id, hold_reason
    from told
    where is_foreign and (ledger_captured is not null or ledger_refunded is not null)
      and (gateway_captured is not null or gateway_refunded is not null)
    union all
    select account_id, order_no, ledger_currency, 'later', null, null, null, null, null, rest,
      null, transaction_id, null
    from told where rest > 0
    union all
    select account_id, order_no, ledger_currency, aside_item, null, null, null, null, null, aside,
      null, transaction_id, hold_reason
    from told where aside > 0
  ) as line
  order by currency, item, first_seen, order_no
$$;
