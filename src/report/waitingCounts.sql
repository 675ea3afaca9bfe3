-- What waits for somebody, counted over all nights. $1 accounts, $2 why an instruction is held that
-- no approval frees: it is counted, and its money waits for nobody's decision. A payout in a unit
-- that nobody has set is in no sum: it is counted apart.
with money as (
  select state, jsonb_object_agg(currency, amount) as by_currency
  from (
    select state, currency, round(sum(coalesce(refund_amount, amount)), 2)::text as amount
    from tieout.instructions
    where is_open and state in ('held', 'unknown') and account_id = any ($1)
      and is_in_totals and operation <> 'review'
      and (state <> 'held' or hold_reason <> all ($2::text[]))
    group by state, currency
  ) sums
  group by state
),
asked as materialized (
  select b.currency, coalesce(
    tieout.break_money(b.kind, b.currency, b.expected, b.actual), b.amount) as stake
  from tieout.breaks b
  where b.state = 'open' and b.waiver_asked_for = b.fingerprint and b.account_id = any ($1)
)
select (select jsonb_object_agg(currency, amount) from (
    select currency, round(sum(stake), 2)::text as amount from asked
    where currency is not null and stake is not null group by currency) sums) as "waiverMoney",
(select count(*) from asked) as waivers,
(select count(*) from asked where currency is null or stake is null) as "waiversWithoutAmount",
(select by_currency from money where state = 'held') as "heldMoney",
(select by_currency from money where state = 'unknown') as "unknownMoney",
(select count(*) from tieout.instructions
  where is_open and state = 'held' and account_id = any ($1)) as held,
(select count(*) from tieout.instructions
  where is_open and state = 'held' and account_id = any ($1)
    and hold_reason = any ($2)) as kept,
(select count(*) from tieout.instructions
  where is_open and state = 'held' and account_id = any ($1) and operation = 'review'
    and hold_reason <> all ($2)) as reviews,
(select count(*) from tieout.instructions
  where is_open and state = 'held' and account_id = any ($1) and not is_in_totals
    and hold_reason <> all ($2)) as unmeasured,
(select count(*) from tieout.instructions
  where is_open and state = 'unknown' and account_id = any ($1)) as unknown,
(select count(*) from tieout.instructions
  where is_open and state = 'unknown' and account_id = any ($1)
    and not is_in_totals) as "unknownUnmeasured",
(select count(*) from tieout.instructions i
  where is_open and state not in ('held', 'unknown')
    and account_id = any ($1) and not tieout.is_pending(i)) as "onTheirWay",
(select count(*) from tieout.instructions i
  where is_open and state in ('planned', 'queued')
    and account_id = any ($1) and not tieout.is_pending(i)) as unsent,
(select count(*) from tieout.instructions i
  where is_open and account_id = any ($1) and tieout.is_pending(i)) as "pendingPayouts",
(select count(*) from tieout.breaks
  where state = 'open' and account_id = any ($1)) as open,
(select count(*) from tieout.breaks
  where state = 'open' and owner is null and account_id = any ($1)) as unowned,
(select count(distinct (p.kind, p.format, p.period)) from tieout.reports p
  where p.state = 'failed' and p.run_id = (select run_id from tieout.runs
      where not is_dry order by business_date desc limit 1)
    and not exists (select from tieout.reports later
      where later.kind = p.kind and later.format = p.format
        and case when p.period is null then later.run_id = p.run_id
          else later.period = p.period end
        and later.revision > p.revision and later.state = 'written')) as unwritten,
-- a run plans once for an order: what was planned by the newest one waits for that of a later date
(select count(*) from tieout.instructions i
  where i.run_id = (select run_id from tieout.runs
      where not is_dry order by business_date desc limit 1)
    and i.replan_id is not null and i.account_id = any ($1)) as replanned
