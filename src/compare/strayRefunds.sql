-- Opens, keeps, reopens and resolves the breaks of refund requests whose order the ledger lacks, or
-- whose account nobody configured, by the ledger as it stands now: no snapshot bears on them, and
-- they stand in no class of orders. What we paid, what a person refused and what is history asks
-- for nothing any more. What the gateway last showed of such an order stays in `actual`: the refund
-- may have been made elsewhere, and a person must not make it again. $1 run, $2 accounts as json
-- [{account_id, live_from, is_strange}]: of a strange one, which is not configured, `live_from` is
-- the start of the look-back; $3 now.
with account as materialized (
  select account_id collate "C" as account_id, live_from, coalesce(is_strange, false) as is_strange
  from jsonb_to_recordset($2::jsonb)
    as a (account_id text, live_from timestamptz, is_strange boolean)
),
stray as materialized (
  select a.account_id, named.order_no, a.is_strange,
    left(coalesce(r.refund_id, '(none)'), 64) as refund_id,
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
found as materialized (
  select account_id, order_no, bool_or(is_strange) as is_strange, jsonb_build_object('problem',
      case when count(*) = 1 then 'refund request ' else count(*) || ' refund requests, such as '
        end || min(refund_id || ' of ' || amount) || case when bool_or(is_strange)
        then ', of an account that is not configured,' else '' end) as expected,
    md5(string_agg(refund_id || ' ' || amount, ',' order by refund_id, amount)) as fingerprint
  from stray group by account_id, order_no
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
  select f.account_id, f.order_no, f.expected, seen.actual, b.break_id, b.state,
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
),
opened as (
  insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint)
  select account_id, order_no, 'refund_without_order', 'open', $3::timestamptz, $1::bigint, $1,
    expected, actual, fingerprint
  from known where break_id is null
  returning break_id, expected, actual
),
kept as (
  update tieout.breaks b
  set state = case when k.state = 'waived' and k.fingerprint = k.old_fingerprint
      then 'waived' else 'open' end,
    last_run_id = $1, expected = k.expected, actual = k.actual,
    fingerprint = k.fingerprint
  from known k
  where b.break_id = k.break_id
    and (b.last_run_id <> $1 or b.fingerprint <> k.fingerprint or b.state = 'resolved')
  returning b.break_id, b.state, k.state as old_state, b.expected, b.actual,
    k.fingerprint <> k.old_fingerprint as is_changed
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
  returning b.break_id, gone.old_state, b.expected, b.actual
)
insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason, expected,
  actual, cause)
select break_id, $1, $3, 'opened', null, 'tieout', null, expected, actual, null from opened
union all
select break_id, $1, $3, case when old_state = 'open' then 'changed' else 'reopened' end, old_state,
  'tieout', case when old_state = 'waived' then 'what it says has changed since it was waived' end,
  expected, actual, null
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, $1, $3, 'resolved', old_state, 'tieout', 'the difference is gone', expected,
  actual, 'ledger'
from resolved
