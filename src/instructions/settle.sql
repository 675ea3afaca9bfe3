-- What do the snapshots of a pull prove about instructions that were sent? Presence confirms; an
-- accepted one that does not show its new state in a pull that was begun after its answer becomes
-- unknown; absence proves nothing about an unknown one; a partial refund that is unknown is never
-- settled here (law 2 of ARCHITECTURE.md), nor is a capture or refund that shows in another
-- currency or with another amount, or a capture of which a journal names another amount. An unknown
-- capture or cancel is planned again, once, when this pull and an earlier one, both complete and
-- begun after so many hours, show the state from before it, whoever sent it is surely gone, and the
-- ledger still asks for it. $1 run, $2 pull, $3 now, $4 hours; null: absence never counts, $5 json
-- [{operation, expected}]: what may be sent again and which expected state asks for it
-- (core/orders/verdict.ts).
with sent as (
  -- found order by order: the planner cannot know how few of all orders these are
  select i.*, asked.expected, asked.amount as ledger_amount
  from tieout.instructions i
  cross join lateral (
    select a.expected, a.amount
    from tieout.asked_orders a
    join tieout.pages p
      on p.pull_id = $2::bigint and p.account_id = a.account_id and p.page_no = a.page_no
        and p.state = 'answered'
    where a.pull_id = $2::bigint and a.account_id = i.account_id and a.order_no = i.order_no
    offset 0
  ) asked
  -- no look shows a payout, also not under the number of its request
  where i.state in ('accepted', 'unknown', 'rejected') and i.operation <> 'payout'
    -- a snapshot from before the send proves nothing about it
    and not exists (
      select from tieout.attempts t where t.batch_id = i.batch_id
        and case when t.looks_before is null
          then t.claimed_at >= (select as_of from tieout.pulls where pull_id = $2)
          else t.looks_before >= tieout.drawn_as($2) end)
),
shown as (
  select sent.instruction_id, sent.account_id, sent.order_no, sent.transaction_id, sent.refund_id,
    sent.state, sent.operation, sent.from_state, sent.done_states, sent.expected, sent.batch_id,
    sent.resends, sent.freed_by, sent.is_disputed,
    sent.refund_amount is null or sent.refund_amount = sent.amount as is_whole,
    look.gateway_state, look.other_state,
    -- a cancel or a review moves no money that a figure could count wrong; of a part that was
    -- captured either amount may stand there
    sent.operation in ('cancel', 'review') or coalesce(look.is_in_currency
      and look.amount in (sent.amount, sent.ledger_amount), false)
      -- nor does it tell which part, where a database that was put back had forgotten another one
      and not exists (
        select from tieout.lost_moves l
        where sent.operation = 'capture' and l.operation = 'capture'
          and l.account_id = sent.account_id and l.transaction_id = sent.transaction_id
          and l.amount <> sent.amount::numeric(20, 2)::text) as is_same_money,
    -- its page may have been asked before it was done
    exists (
      select from tieout.attempts t where t.batch_id = sent.batch_id
        and t.finished_at > (select as_of from tieout.pulls where pull_id = $2)
    ) as is_older,
    exists (
      select from tieout.instructions later
      where later.account_id = sent.account_id and later.order_no = sent.order_no
        and later.operation = sent.operation and later.transaction_id = sent.transaction_id
        and later.instruction_id > sent.instruction_id
        -- a later refund that went through shows the same state as this one would
        and (later.refund_id is not distinct from sent.refund_id
          or later.state in ('accepted', 'confirmed'))
    ) as is_superseded
  from sent
  cross join lateral (
    -- more than one meaning: the least and the greatest of them are not the same
    select min(e.meaning) as gateway_state, max(e.meaning) as other_state,
      bool_and(e.currency is not distinct from sent.currency) as is_in_currency,
      case when count(e.amount) = count(*) and min(e.amount) = max(e.amount)
        then min(e.amount) end as amount
    from (
      select transaction_id, currency, amount,
        case when found then coalesce(state, '') else '' end as meaning
      from tieout.look_entries plain
      where plain.pull_id = $2 and plain.account_id = sent.account_id
        and plain.order_no = sent.order_no and not plain.is_extra
      union all
      select transaction_id, currency, amount,
        case when found then coalesce(state, '') else '' end
      from tieout.look_entries extra
      where extra.pull_id = $2 and extra.account_id = sent.account_id
        and extra.order_no = sent.order_no and extra.is_extra
    ) e
    where e.transaction_id = sent.transaction_id
  ) look
),
-- What may be sent again as far as this look goes, and from when on looks prove anything about it.
again as (
  select shown.instruction_id, shown.account_id, shown.order_no, shown.transaction_id,
    shown.from_state, last.proves_from
  from shown
  join lateral (
    -- never before a snapshot that came before it: a clock may have been behind as it was claimed
    select greatest(max(t.claimed_at), (
        select max(p.as_of) from tieout.pulls p
        where tieout.drawn_as(p.pull_id) <= max(t.looks_before) and p.as_of <= clock_timestamp()
      )) + make_interval(secs => $4::float8 * 3600) as proves_from
    from tieout.attempts t where t.batch_id = shown.batch_id
    having bool_and(t.outcome is not null and (t.outcome = 'not_sent' or t.is_sender_gone))
  ) last on true
  where $4::float8 is not null and shown.state = 'unknown'
    and shown.gateway_state = shown.from_state and shown.resends = 0 and not shown.is_disputed
    -- resendAfterHours was given when it was unknown already: a person decides
    and shown.freed_by is null
    and exists (
      select from jsonb_to_recordset($5::jsonb) as asked (operation text, expected text)
      where asked.operation = shown.operation and asked.expected = shown.expected)
),
-- When each account was looked at completely since then, by pulls of whole runs: one that was cut
-- short has pages, too, and maybe all of them answered. The pages of nights before are not read.
complete as (
  select p.pull_id, p.as_of, a.account_id
  from (select distinct account_id from again) a
  join tieout.pulls p on p.as_of >= (select min(proves_from) from again)
  cross join lateral (
    select bool_and(state = 'answered') as is_answered from tieout.pages
    where pull_id = p.pull_id and account_id = a.account_id
  ) pages
  where p.kind = 'night' and p.pull_id <= $2 and p.finished_at is not null
    and tieout.is_in_time(p.pull_id, p.as_of) and pages.is_answered
),
absent as (
  select again.instruction_id
  from again
  join complete c on c.account_id = again.account_id and c.as_of >= again.proves_from
  join tieout.look_entries e on e.pull_id = c.pull_id and e.account_id = again.account_id
    and e.order_no = again.order_no and not e.is_extra
  where e.found and e.transaction_id = again.transaction_id and e.state = again.from_state
    -- a snapshot that tells of the transaction twice proves nothing
    and not exists (
      select from tieout.look_entries twice
      where twice.pull_id = c.pull_id and twice.account_id = again.account_id
        and twice.order_no = again.order_no and twice.is_extra
        and twice.transaction_id = again.transaction_id
        and (twice.found, twice.state) is distinct from (e.found, e.state))
  group by again.instruction_id
  having count(distinct c.pull_id) >= 2 and bool_or(c.pull_id = $2)
),
judged as materialized (
  select instruction_id, account_id, order_no, transaction_id, refund_id, state, gateway_state,
    case
      -- contradictory, or a code without a meaning: no proof either way
      when gateway_state <> other_state or gateway_state = '' then null
      when state = 'accepted' and gateway_state = any (done_states) then 'confirmed'
      when state = 'accepted' and is_older then null
      when state = 'accepted' then 'unknown'
      -- in other money it is not what was asked for: figures would be wrong
      when state = 'unknown' and not is_disputed and is_whole and is_same_money
        and gateway_state = any (done_states) then 'confirmed'
      -- what a person has judged once is not asked again
      when state = 'rejected' and not is_superseded and not is_disputed
        and gateway_state <> from_state and gateway_state = any (done_states)
        and not tieout.is_barred(instruction_id) then 'unknown'
      when state = 'unknown' and gateway_state = from_state
        and instruction_id in (select instruction_id from absent) then 'planned'
    end as to_state
  from shown
),
disputed as materialized (
  select * from judged where state = 'rejected' and to_state = 'unknown'
)
update tieout.instructions i
set state = j.to_state, resends = i.resends + (j.to_state = 'planned')::int,
  again_after_look = case when j.to_state = 'planned' then tieout.looks_drawn()
    else i.again_after_look end,
  is_disputed = i.is_disputed or j.state = 'rejected',
  settled_at = case when j.to_state = 'confirmed' then $3::timestamptz end,
  settled_run_id = case when j.to_state = 'confirmed' then $1::bigint end,
  changed_by = 'tieout',
  reason = case
    when j.to_state = 'planned'
      then 'two complete looks show ' || j.gateway_state || ': it is sent again, once'
    when j.to_state = 'confirmed' then 'the gateway shows ' || j.gateway_state
    when j.state = 'rejected' then coalesce((
      -- where a person did, the gateway itself never said that it is not done
      select d.decided_by || ' found that it did not happen, yet the gateway shows '
      from tieout.decisions d
      where d.instruction_id = j.instruction_id and d.finding = 'not_happened'
      order by d.decision_id desc limit 1
    ), 'the gateway refused it, yet shows ') || j.gateway_state
    when j.gateway_state is null then 'the gateway accepted it, but shows no such transaction'
    else 'the gateway accepted it, but shows ' || j.gateway_state
  end
from judged j
where j.instruction_id = i.instruction_id and i.state = j.state and j.to_state is not null
  -- of several refusals that the same snapshot contradicts the newest is asked about first
  and (j.state <> 'rejected' or not exists (
    select from disputed later
    where later.account_id = j.account_id and later.instruction_id > j.instruction_id
      and (later.order_no = j.order_no or later.transaction_id = j.transaction_id
        or later.refund_id = j.refund_id)))
