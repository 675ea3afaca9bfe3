-- Opens, keeps, reopens and resolves breaks by the verdicts of one compare. Only orders with a
-- complete snapshot are touched: what was not looked at neither opens nor resolves (law 4 of
-- ARCHITECTURE.md). $1 run, $2 pull, $3 null or the later pull whose failed pages this compare
-- judged, $4 now.
with compared as materialized (
  select a.account_id, a.order_no
  from :asked_orders a
  left join :pages p using (pull_id, account_id, page_no)
  where a.pull_id = $2::bigint
    and (p.state = 'answered'
      or (a.page_no is null and (not a.in_ledger or a.ledger_problem is not null)))
    and (a.account_id, a.order_no) in (
      select account_id, order_no from :breaks where state <> 'resolved')
    and not exists (
      select from :verdicts v
      where v.run_id = $1::bigint and v.account_id = a.account_id and v.order_no = a.order_no
        and v.not_compared is not null)
    and ($3::bigint is null or exists (
      select from :asked_orders later
      left join :pages page using (pull_id, account_id, page_no)
      where later.pull_id = $3 and later.account_id = a.account_id
        and later.order_no = a.order_no and page.state is distinct from 'answered'))
),
-- Where the compare refused to choose, all candidates are shown, and a new one is a change.
candidate as materialized (
  select account_id, order_no, jsonb_agg(side order by side ->> 'transaction', side) as candidates
  from (
    select distinct v.account_id, v.order_no, jsonb_strip_nulls(jsonb_build_object(
      'transaction', e.transaction_id, 'state', e.state, 'code', e.payment_status,
      'currency', e.currency, 'amount', coalesce(e.amount::text, e.amount_text))) as side
    from :verdicts v
    join lateral (
      select * from :look_entries p
      where p.pull_id = $2 and p.account_id = v.account_id and p.order_no = v.order_no
        and not p.is_extra
      union all
      select * from :look_entries x
      where x.pull_id = $2 and x.account_id = v.account_id and x.order_no = v.order_no
        and x.is_extra
    ) e on true
    where v.run_id = $1 and v.pull_id = $2
      and v.kinds && array['duplicate_transaction', 'transaction_mismatch']
  ) as entry
  group by account_id, order_no
),
found as materialized (
  select v.account_id, v.order_no, kind,
    -- in two currencies what the gateway took is at stake, and their difference is no money; of
    -- what one side alone took all of it is, as tieout.break_stake says
    case when is_foreign then v.gateway_currency
      else coalesce(v.ledger_currency, v.gateway_currency) end as currency,
    case when is_foreign then v.gateway_amount
      when kind = 'amount_mismatch' then case
        when tieout.taken_by(v.expected, v.gateway_state) is not null
        then greatest(coalesce(v.to_take, v.ledger_amount), v.gateway_amount)
        else abs(coalesce(v.taken, v.gateway_amount) - coalesce(v.to_take, v.ledger_amount)) end
      else coalesce(v.ledger_amount, v.gateway_amount) end as amount,
    jsonb_strip_nulls(jsonb_build_object('state', v.expected, 'currency', v.ledger_currency,
      'amount', case when kind = 'amount_mismatch' and v.to_take is not null then v.to_take::text
        else v.ledger_amount::text end, 'problem', v.ledger_problem)) as expected,
    jsonb_strip_nulls(jsonb_build_object('state', v.gateway_state, 'code', v.payment_status,
      'currency', v.gateway_currency,
      -- what we captured, where the gateway does not tell
      'amount', coalesce(
        case when kind = 'amount_mismatch' and not is_foreign then v.taken end::text,
        v.gateway_amount::text, v.gateway_amount_text),
      'transaction', v.transaction_id, 'candidates', c.candidates)) as actual,
    case when kind = 'refund_mismatch' then coalesce(v.requests, '') else '' end as requests
  from :verdicts v
  cross join unnest(v.kinds) as kind
  cross join lateral (
    -- where the gateway's entry can be read
    select coalesce(v.gateway_currency <> v.ledger_currency and v.gateway_currency <> ''
      and v.gateway_amount > 0, false) as is_foreign
  ) as money
  left join candidate c on c.account_id = v.account_id and c.order_no = v.order_no
  where v.run_id = $1 and v.pull_id = $2 and v.kinds <> '{}'
    and ($3 is null or (v.account_id, v.order_no) in (
      select account_id, order_no from :asked_orders where pull_id = $3))
),
known as materialized (
  select f.*, md5(f.expected::text || f.actual::text || f.requests) as fingerprint, b.break_id,
    b.state,
    b.fingerprint as old_fingerprint
  from found f
  left join :breaks b using (account_id, order_no, kind)
),
opened as (
  insert into :breaks (account_id, order_no, kind, state, first_seen, first_run_id,
    last_run_id, expected, actual, fingerprint, currency, amount)
  select account_id, order_no, kind, 'open', $4::timestamptz, $1, $1, expected, actual,
    fingerprint, currency, amount
  from known where break_id is null
  returning break_id, expected, actual, currency, amount
),
kept as (
  update :breaks b
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
  returning b.break_id, b.state, k.state as old_state, b.fingerprint <> k.old_fingerprint
    as is_changed, b.expected, b.actual, b.currency, b.amount
),
gone as materialized (
  select b.* from :breaks b
  join compared using (account_id, order_no)
  where state <> 'resolved' and not tieout.stands_apart(b.kind) and not exists (
    select from found f
    where f.account_id = b.account_id and f.order_no = b.order_no and f.kind = b.kind)
),
-- What the gateway shows now of the orders whose break is gone, beside what it showed then.
shown as materialized (
  select g.break_id, bool_or(e.transaction_id is not distinct from g.actual ->> 'transaction'
      and e.payment_status is not distinct from g.actual ->> 'code'
      and e.currency is not distinct from g.actual ->> 'currency'
      and coalesce(e.amount::text, e.amount_text) is not distinct from g.actual ->> 'amount')
      as is_same
  from gone g
  join lateral (
    select * from :look_entries p
    where p.pull_id = $2 and p.account_id = g.account_id and p.order_no = g.order_no
      and not p.is_extra
    union all
    select * from :look_entries x
    where x.pull_id = $2 and x.account_id = g.account_id and x.order_no = g.order_no
      and x.is_extra
  ) e on true
  group by g.break_id
),
-- By what did it go away? The first that fits.
explained as materialized (
  select g.break_id, g.state as old_state, said.who, case
      when said.who is not null then 'decision'
      when exists (
        select from :instructions i
        where i.account_id = g.account_id and i.order_no = g.order_no
          and i.state = 'confirmed' and i.settled_run_id >= g.last_run_id) then 'instruction'
      when v.kinds <> '{}' then 'other_break'
      when v.tolerated and g.kind = 'amount_mismatch' then 'tolerance'
      when (g.expected ->> 'state', g.expected ->> 'currency', g.expected ->> 'amount',
          g.expected ->> 'problem')
        is distinct from (a.expected, a.currency, a.amount::text, a.ledger_problem)
        or exists (
          select from :ledger_changes c
          where c.run_id = $1 and c.account_id = g.account_id and c.order_no = g.order_no)
        then 'ledger'
      when s.break_id is null and g.actual <> '{}' then 'gone'
      when s.is_same is not true then 'outside'
      when g.kind in ('transaction_mismatch', 'refund_mismatch') then 'ledger'
      else 'rules'
    end as cause
  from gone g
  left join :asked_orders a
    on a.pull_id = $2 and a.account_id = g.account_id and a.order_no = g.order_no
  left join :verdicts v
    on v.run_id = $1 and v.account_id = g.account_id and v.order_no = g.order_no
  left join shown s on s.break_id = g.break_id
  -- by whose word the newest that was unknown is no longer, where no run has counted it before
  left join lateral (
    select case when known.by <> 'tieout' and coalesce(known.settled_run_id, $1) >= g.last_run_id
      then known.by end as who
    from (
      select e.by, i.settled_run_id
      from :instructions i join :instruction_events e using (instruction_id)
      where g.kind = 'outcome_unknown' and i.account_id = g.account_id and i.order_no = g.order_no
        and e.from_state = 'unknown'
      order by e.seq desc limit 1
    ) known
  ) said on true
),
resolved as (
  update :breaks b
  set state = 'resolved', last_run_id = $1
  from explained e
  where b.break_id = e.break_id
  returning b.break_id, e.old_state, e.cause, b.expected, b.actual, b.currency, b.amount,
    coalesce(e.who || ' said what became of it', 'the difference is gone') as reason
)
insert into :break_events (break_id, run_id, at, event, from_state, by, reason, currency,
  amount, expected, actual, cause)
select break_id, $1, $4, 'opened', null, 'tieout', null, currency, amount, expected, actual, null
from opened
union all
select break_id, $1, $4, case when old_state = 'open' then 'changed' else 'reopened' end, old_state,
  'tieout', case when old_state = 'waived' then 'what it says has changed since it was waived' end,
  currency, amount, expected, actual, null
from kept where state <> old_state or (state = 'open' and is_changed)
union all
select break_id, $1, $4, 'resolved', old_state, 'tieout', reason, currency, amount, expected,
  actual, cause
from resolved
