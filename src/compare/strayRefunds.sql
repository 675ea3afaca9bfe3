-- Opens, keeps, reopens and resolves the breaks of refund requests whose order the ledger lacks, or
-- whose account nobody configured, by the ledger as it stands now: no snapshot bears on them, and
-- they stand in no class of orders. What we paid, what a person refused and what is history asks
-- for nothing any more. What the gateway last showed of such an order stays in `actual`: the refund
-- may have been made elsewhere, and a person must not make it again. Of an account that left the
-- configuration nothing is told anew: neither what its last look had matched as refunded, nor a
-- refund of ours of which nobody knows the end yet, which stands with its instruction. $1 run,
-- $2 accounts as json [{account_id, live_from, is_strange}]: of a strange one, which is not
-- configured, `live_from` is the start of the look-back; $3 now.
with account as materialized (
  select account_id collate "C" as account_id, live_from, coalesce(is_strange, false) as is_strange
  from jsonb_to_recordset($2::jsonb)
    as a (account_id text, live_from timestamptz, is_strange boolean)
),
stray as materialized (
  select a.account_id, named.order_no, a.is_strange,
    left(coalesce(r.refund_id, '(none)'), 64) as refund_id,
    r.refund_id collate "C" as request, r.refund_amount,
    coalesce(r.refund_amount::text, '(no amount)') as amount
  from tieout.ledger_refunds() r
  join account a on a.account_id = r.account_id collate "C"
  cross join lateral (
    -- one that names no order at all stands under a word of ours
    select coalesce(nullif(case when tieout.id_problem(r.order_no) is null
      then r.order_no else left(r.order_no, 64) end, ''), '(none)') collate "C" as order_no
  ) named
  where (a.live_from is null or r.requested_at is null or r.requested_at >= a.live_from
      -- what was told of a strange account is told until it is gone, however old by then
      or a.is_strange and exists (
        select from tieout.breaks told
        where told.account_id = a.account_id and told.order_no = named.order_no
          and told.kind = 'refund_without_order' and told.state <> 'resolved'))
    and (a.is_strange or not exists (
      select from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = a.account_id
        and l.order_no collate "C" = r.order_no collate "C"))
    and not exists (
      select from tieout.instructions i
      where i.account_id = a.account_id and i.refund_id = r.refund_id collate "C"
        and i.operation = 'refund' and (i.state = 'confirmed' or i.is_refused)
        and i.replan_id is null)
),
-- Of a strange account the ledger may have the order, and says in which currency.
asked as materialized (
  select s.*, o.currency
  from stray s
  left join (
    select l.account_id collate "C" as account_id, l.order_no collate "C" as order_no,
      min(l.currency) as currency
    from tieout.ledger_orders('{}', '{}', '') l
    where (l.account_id collate "C", l.order_no collate "C") in (
        select account_id, order_no from stray where is_strange)
      and l.currency ~ '^[A-Z]{3}$'
    group by 1, 2
  ) o using (account_id, order_no)
  where not s.is_strange or not exists (
      select from tieout.instructions i
      where i.account_id = s.account_id and i.refund_id = s.request and i.operation = 'refund'
        and i.state in ('sending', 'accepted', 'unknown'))
    and not exists (
      select from tieout.final_orders f
      where f.account_id = s.account_id and f.order_no = s.order_no
        and (s.request || ' ' || trim_scale(s.refund_amount)) collate "C" = any (f.requests))
    and not exists (
      select from tieout.asked_refunds r
      join tieout.asked_orders a using (pull_id, account_id, order_no)
      join tieout.pulls p using (pull_id)
      -- Of an account that was never looked at, all pulls would be gone through for each.
      where r.pull_id = case when exists (
          select from tieout.run_accounts ra
          where ra.account_id = s.account_id and ra.pull_id is not null)
          then tieout.newest_look(s.account_id, s.order_no) end
        and r.account_id = s.account_id and r.order_no = s.order_no and r.refund_id = s.request
        and r.refund_amount = s.refund_amount and a.in_ledger
        -- what is matched has no verdict; before a look was compared, nothing has
        and (p.matched ->> s.account_id)::bigint > 0
        and not exists (
          select from tieout.verdicts v
          where v.run_id = p.run_id and v.account_id = s.account_id and v.order_no = s.order_no
            and v.class is distinct from 'matched'))
),
found as materialized (
  select account_id, order_no, bool_or(is_strange) as is_strange, min(currency) as currency,
    case when min(currency) is not null and sum(refund_amount) < 1e18
        and bool_and(coalesce(refund_amount > 0 and refund_amount = round(refund_amount, 2), false))
      then round(sum(refund_amount), 2) end as amount,
    jsonb_build_object('problem',
      case when count(*) = 1 then 'refund request ' else count(*) || ' refund requests, such as '
        end || min(refund_id || ' of ' || amount) || case when bool_or(is_strange)
        then ', of an account that is not configured,' else '' end) as expected,
    md5(string_agg(refund_id || ' ' || amount, ',' order by refund_id, amount)) as fingerprint
  from asked group by account_id, order_no
),
-- Only where it may be found: what no snapshot has would be sought in all there are.
looked as materialized (
  select f.*, case when exists (
      select from tieout.final_orders o
      where o.account_id = f.account_id and o.order_no = f.order_no)
    or exists (
      select from tieout.run_accounts ra
      join tieout.asked_orders o on o.pull_id = ra.pull_id and o.account_id = ra.account_id
      where ra.run_id = $1 and ra.account_id = f.account_id and o.order_no = f.order_no)
    or f.is_strange and exists (
      select from tieout.run_accounts ra
      where ra.account_id = f.account_id and ra.pull_id is not null)
    then tieout.newest_look(f.account_id, f.order_no) end as look
  from found f
),
known as materialized (
  select f.account_id, f.order_no, seen.actual, b.break_id, b.state, money.currency, money.amount,
    f.expected || jsonb_strip_nulls(jsonb_build_object('currency', money.currency,
      'amount', money.amount::text)) as expected,
    f.fingerprint || coalesce(' ' || (seen.actual ->> 'state'), '') as fingerprint,
    b.fingerprint as old_fingerprint
  from looked f
  left join tieout.breaks b on b.account_id = f.account_id and b.order_no = f.order_no
    and b.kind = 'refund_without_order'
  cross join lateral (
    select case when f.look is null then coalesce(b.actual, '{}') else coalesce((
      select jsonb_build_object('state', e.state) from tieout.look_entries e
      where e.pull_id = f.look and e.account_id = f.account_id and e.order_no = f.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)
        and e.state in ('refunded', 'partially_refunded')
      order by e.state desc limit 1), '{}') end as actual
  ) seen
  -- one that opened without money stays so until it is resolved
  left join lateral (
    select f.currency, f.amount
    where f.amount is not null
      and (b.state is null or b.state = 'resolved' or b.currency is not null)
  ) money on true
),
opened as (
  insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint, currency, amount)
  select account_id, order_no, 'refund_without_order', 'open', $3::timestamptz, $1::bigint, $1,
    expected, actual, fingerprint, currency, amount
  from known where break_id is null
  returning break_id, expected, actual, currency, amount
),
kept as (
  update tieout.breaks b
  set state = case when k.state = 'waived' and k.fingerprint = k.old_fingerprint
      then 'waived' else 'open' end,
    last_run_id = $1, expected = k.expected, actual = k.actual, fingerprint = k.fingerprint,
    -- what it opened with stays at stake until it is resolved, and what was waived is that
    currency = case when kept.is_opened then b.currency else k.currency end,
    amount = case when kept.is_opened then b.amount else k.amount end
  from known k
  cross join lateral (
    select k.state = 'open' or k.state = 'waived' and k.fingerprint = k.old_fingerprint as is_opened
  ) as kept
  where b.break_id = k.break_id
    and (b.last_run_id <> $1 or b.fingerprint <> k.fingerprint or b.state = 'resolved')
  returning b.break_id, b.state, k.state as old_state, b.expected, b.actual,
    b.currency, b.amount, k.fingerprint <> k.old_fingerprint as is_changed
),
gone as materialized (
  select b.break_id, b.state as old_state
  from tieout.breaks b
  join account a on a.account_id = b.account_id
  where b.kind = 'refund_without_order' and b.state <> 'resolved'
    and not exists (
      select from found f where f.account_id = b.account_id and f.order_no = b.order_no)
),
resolved as (
  update tieout.breaks b set state = 'resolved', last_run_id = $1
  from gone where b.break_id = gone.break_id
  returning b.break_id, gone.old_state, b.expected, b.actual, b.currency, b.amount
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason, currency,
  amount, expected, actual, cause)
select break_id, $1, $3, 'opened', null, 'tieout', null, currency, amount, expected, actual, null
from opened
union all
select break_id, $1, $3, case when old_state = 'open' then 'changed' else 'reopened' end, old_state,
  'tieout', case when old_state = 'waived' then 'what it says has changed since it was waived' end,
  currency, amount, expected, actual, null
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, $1, $3, 'resolved', old_state, 'tieout', 'the difference is gone', currency,
  amount, expected, actual, 'ledger'
from resolved
