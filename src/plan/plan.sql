-- What should be sent? At most one instruction an order and run; each is planned, or held with the
-- reason why it waits for a person. Those that waited already are weighed again by the same rules;
-- one that a person approved goes, as long as that holds. What is queued waits, too, until somebody
-- claims it: settings may have changed since. $1 run, $2 now, $3 policies as json [{operation,
-- policy, above (by currency) | null, max_count | null, max_amount (by currency) | null}], $4
-- partial captures, $5 what shows each done, as json [{operation, decision, completes, after}]
-- (core/instructions/instruction.ts), $6 reasons to hold that no approval overrules
-- (core/instructions/decision.ts), $7 payout requests that wait, as json (plan/payouts.ts): each
-- once, with its amount in money, or why it cannot be sent. What is needed by each row alone goes
-- through it in one pass; sums are made only where there is a limit to hold.
with recursive policy as materialized (
  select * from jsonb_to_recordset($3::jsonb) as p (operation text, policy text, above jsonb,
    max_count bigint, max_amount jsonb)
),
done as materialized (
  select operation, decision, completes, array(select jsonb_array_elements_text(after)) as states
  from jsonb_to_recordset($5::jsonb)
    as d (operation text, decision text, completes boolean, after jsonb)
),
-- When the database last came back: it may have forgotten what was sent before that.
restored as materialized (select coalesce(max(at), '-infinity') as at from tieout.put_backs),
-- What is known to have been sent, or may have been, and was forgotten. Of two operations that the
-- same state allows one stands in the way of the other. Older journals name no order.
lost as materialized (
  select account_id, order_no, transaction_id, refund_id,
    replace(operation, 'cancel', 'capture') as kind, currency, amount, max(found_at) as found_at
  from tieout.lost_moves group by 1, 2, 3, 4, 5, 6, 7
),
-- What was taken back from the merchant, or may be: a refund of it would go back twice.
disputed as materialized (select account_id, order_no, transaction_id from tieout.disputed_money()),
-- What an order has open already, and whether its approval still stands.
standing as materialized (
  select i.account_id, i.order_no, i.operation, i.transaction_id, i.instruction_id, i.state,
    i.hold_reason, i.approval_id, i.freed_by, i.doubled, d.at as approved_at,
    i.freed_by is not null and d.row_before ->> 'freed_by' is distinct from i.freed_by as is_unseen,
    case when i.approval_id is not null and i.state in ('planned', 'held', 'queued')
      then tieout.approval_lapse(i) end as lapsed,
    -- what waits for that waits on, whatever date its request bears by now
    case when i.hold_reason = 'restored' then '-infinity' else i.created_at end as known_at,
    -- a dispute that left the ledger was neither won nor withdrawn; a database that was put back
    -- meanwhile does not end the waiting for it
    case when i.hold_reason = 'disputed' or i.hold_reason = 'restored' and (
        select e.reason from tieout.instruction_events e
        where e.instruction_id = i.instruction_id and e.reason is distinct from 'restored'
        order by e.seq desc limit 1) = 'disputed'
      then tieout.disputes_seen(i) = '{}' end as is_left_disputed
  from tieout.instructions i
  left join tieout.decisions d on d.decision_id = i.approval_id
  where i.is_open
),
fraud as materialized (
  select e.pull_id, e.account_id, e.order_no, e.transaction_id
  from :look_entries e where e.fraud_rejected and e.transaction_id is not null
    and e.pull_id in (select pull_id from tieout.pulls where run_id = $1::bigint)
),
-- One transaction that is to move more than once: under several orders, each of which asks for a
-- refund, or of which one is to be captured and one cancelled; or under two accounts.
shared as materialized (
  select account_id, transaction_id from :verdicts
  where run_id = $1 and need in ('refund', 'capture', 'cancel')
  group by account_id, transaction_id
  having count(*) > 1 and (min(need) = 'refund' or min(need) <> max(need))
  union
  select unnest(array_agg(account_id)), transaction_id from :verdicts
  where run_id = $1 and need in ('refund', 'capture', 'cancel')
  group by order_no, transaction_id having min(account_id) <> max(account_id)
),
-- The looks before at what is to be captured: of this date, of the one before, and on from each
-- whose night neither found the order matched nor asked this of it: an attempt that is pending, in
-- review or declined, and shown alone, hides what was taken.
before as materialized (
  select ra.account_id, look.run_id, look.pull_id, look.business_date
  from tieout.run_accounts ra
  cross join lateral tieout.finished_look(ra.account_id, ra.business_date) look
  where ra.run_id = $1
  union all
  select ra.account_id, null, p.pull_id, null
  from tieout.run_accounts ra
  join tieout.pulls p using (run_id)
  where ra.run_id = $1 and p.kind = 'night' and p.finished_at is not null
),
looked as (
  select v.account_id, v.order_no, v.transaction_id, before.run_id, before.pull_id,
    before.business_date
  from :verdicts v
  join before using (account_id)
  where v.run_id = $1 and v.need = 'capture' and before.pull_id <> v.pull_id
  union all
  select l.account_id, l.order_no, l.transaction_id, look.run_id, look.pull_id, look.business_date
  from looked l
  cross join lateral tieout.finished_look(l.account_id, l.business_date) look
  where (select v.need is not null or v.awaited or v.not_compared is not null or v.kinds <> '{}'
      from tieout.verdicts v
      where v.run_id = l.run_id and v.account_id = l.account_id and v.order_no = l.order_no)
    and not exists (
      select from tieout.instructions i
      where i.account_id = l.account_id and i.order_no = l.order_no
        and i.operation = 'capture' and i.transaction_id = l.transaction_id
        -- one that waits is weighed each night
        and (i.run_id = l.run_id or i.is_open and i.run_id < l.run_id)
        -- where a reason that comes first held it then, nobody asked
        and not exists (select from tieout.instruction_events e
          where e.instruction_id = i.instruction_id and e.from_state is null and e.reason in (
            'by_hand', 'moved_already', 'no_history', 'observed', 'partial_capture', 'restored',
            'shared_transaction')))
),
-- What reached a batch before, and all looks made to send or to confirm since: small, and many.
reached as materialized (
  select v.account_id, v.order_no, v.transaction_id, i.run_id as first,
    coalesce(i.settled_run_id, $1) as last
  from :verdicts v join tieout.instructions i using (account_id, order_no)
  where v.run_id = $1 and v.need = 'capture' and i.batch_id is not null
    and i.operation in ('capture', 'cancel')
),
beside as materialized (
  select e.account_id, e.order_no, e.transaction_id, p.run_id
  from (select distinct pull_id, run_id from (select distinct first, last from reached) r
    join tieout.pulls on run_id between first and last and kind <> 'night'
      and finished_at is not null) p
  join tieout.look_entries e using (pull_id)
  where (e.is_extra or not e.is_extra) and e.state in ('captured', 'partially_refunded', 'refunded')
),
-- To be captured, and taken by another transaction already: a look before, one that was made to
-- send or to confirm, or the book of movements, had it. A gateway that shows the newest attempt
-- alone shows nothing of it any more.
taken as materialized (
  select l.account_id, l.order_no
  from looked l
  cross join lateral (
    select from tieout.look_entries e
    where e.pull_id = l.pull_id and e.account_id = l.account_id and e.order_no = l.order_no
      -- each half has an index of its own; without this line neither is used
      and (e.is_extra or not e.is_extra) and e.transaction_id <> l.transaction_id
      and e.state in ('captured', 'partially_refunded', 'refunded')
    limit 1
  ) other
  union all
  select account_id, order_no from reached r join beside b using (account_id, order_no)
  where b.transaction_id <> r.transaction_id and b.run_id between r.first and r.last
  union all
  select v.account_id, v.order_no
  from :verdicts v
  cross join lateral (
    select from tieout.movements m
    where m.account_id = v.account_id and m.order_no = v.order_no and m.kind = 'captured'
      and m.transaction_id <> v.transaction_id
    union all
    -- nothing may show it any more: it waited for that once
    select from tieout.instructions waited
    join tieout.instruction_events e using (instruction_id)
    where waited.account_id = v.account_id and waited.order_no = v.order_no
      and waited.operation = 'capture' and e.to_state = 'held' and e.reason = 'second_capture'
    limit 1
  ) other
  where v.run_id = $1 and v.need = 'capture'
),
-- Refunds in whose place another one of the order may stand, of whatever amount.
replaced as materialized (
  select i.account_id, i.order_no from tieout.instructions i
  where i.instruction_id in (
      select instruction_id from tieout.decisions where finding = 'not_happened' union all
      select old.instruction_id
      from restored join tieout.instructions old on restored.at > '-infinity'
      where old.operation = 'refund' and old.state = 'withdrawn')
    and tieout.leaves_a_place(i)
),
-- Payouts of the same money as one that was lost with its request: they may stand for it.
lost_twin as materialized (select * from tieout.lost_twins($7::jsonb, $2::timestamptz)),
-- What the verdicts need, and what payout requests ask for: from here on both are weighed alike.
wanted as not materialized (
  select v.account_id, v.order_no, v.need, v.transaction_id, v.ledger_currency, v.need_amount,
    v.refund_id, v.refund_amount, v.completes, v.review_decision, v.gateway_state,
    v.need = 'capture' and v.need_amount < v.ledger_amount as is_part,
    i.instruction_id, i.state as instruction_state, i.approval_id, i.approved_at, i.lapsed,
    i.freed_by, i.is_unseen, restored.at as restored_at, ra.send_block,
    coalesce(r.requested_at, o.placed_at) as since, coalesce(i.known_at, past.known_at) as known_at,
    coalesce(v.refund_amount, v.need_amount) as money, r.reason as request_reason, r.requested_by,
    -- a review is the merchant's own answer to the fraud check
    v.need <> 'review' and (v.pull_id, v.account_id, v.order_no, v.transaction_id)
      in (select pull_id, account_id, order_no, transaction_id from fraud) as is_fraud,
    -- a part more of what is refunded in part already: no snapshot tells it from the part before
    v.need = 'refund' and v.gateway_state = 'partially_refunded' and not v.completes
      and least(coalesce(r.requested_at, '-infinity'), i.known_at, past.known_at) < restored.at
      as is_blind,
    v.need = 'refund' and ((i.is_left_disputed or past.is_left_disputed) is true
      or (v.account_id, v.order_no) in (
        select account_id, order_no from disputed where order_no is not null)
      or v.transaction_id in (select transaction_id from disputed where transaction_id is not null))
      as has_dispute,
    array_remove(array[case when v.need <> 'review' and (v.account_id, v.transaction_id) in (
          select account_id, transaction_id from shared)
        then case v.need when 'refund' then 'shared_refund' else 'shared_transaction' end end,
      -- nothing may show it any more, and nobody has decided
      case when v.need = 'capture' and ((v.account_id, v.order_no) in (
            select account_id, order_no from taken)
          or 'second_capture' = any (i.hold_reason || string_to_array(i.doubled, ' ')))
        then 'second_capture' end,
      case when v.need = 'refund' and (v.account_id, v.order_no) in (
          select account_id, order_no from replaced) then 'twin_request' end], null) as doubles,
    null::text as problem, null::jsonb as payload, true as is_in_totals,
    null::text as source_currency, null::numeric as source_amount
  from :verdicts v
  cross join restored
  join tieout.run_accounts ra using (run_id, account_id)
  left join :asked_orders o
    on o.pull_id = v.pull_id and o.account_id = v.account_id and o.order_no = v.order_no
  left join tieout.ledger_refunds() r
    on r.account_id collate "C" = v.account_id and r.refund_id collate "C" = v.refund_id
  left join standing i on i.account_id = v.account_id and i.order_no = v.order_no
  left join lateral tieout.waited_before(v.account_id,
    case when i.instruction_id is null then v.refund_id end, null) past on true
  where v.run_id = $1 and v.need is not null
    and (i.instruction_id is null or i.state in ('planned', 'held', 'queued'))
    -- what a confirmation of this run makes possible is the next run's
    and (i.instruction_id is not null or (v.account_id, v.order_no) not in (
      select account_id, order_no from tieout.instructions where run_id = $1))
  union all
  select p.account_id, p.request_id, 'payout', p.request_id, p.currency, p.amount, null, null, null,
    null, 'requested', false, i.instruction_id, i.state, i.approval_id, i.approved_at, i.lapsed,
    i.freed_by, i.is_unseen, restored.at, ra.send_block, p.requested_at, coalesce(i.known_at,
      past.known_at), p.amount, null, null, false, least(coalesce(p.requested_at, '-infinity'),
      i.known_at, past.known_at) < restored.at, false, array_remove(array[
      coalesce(p.doubled, case when (p.account_id, p.request_id) in (
        select account_id, request_id from lost_twin) then 'twin_request' end)], null),
    p.problem, p.payload, p.is_in_totals, p.source_currency, p.source_amount
  from jsonb_to_recordset($7::jsonb) as p (account_id text, request_id text, currency text,
    amount numeric, requested_at timestamptz, problem text, payload jsonb, is_in_totals boolean,
    doubled text, source_currency text, source_amount numeric)
  cross join restored
  join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = p.account_id
  left join standing i
    on i.operation = 'payout' and i.account_id = p.account_id and i.transaction_id = p.request_id
  left join lateral tieout.waited_before(p.account_id, null,
    case when i.instruction_id is null then p.request_id end) past on true
  where case when i.instruction_id is not null then i.state in ('planned', 'held', 'queued')
    else not exists (select from tieout.instructions earlier
      where earlier.run_id = $1 and earlier.operation = 'payout'
        and earlier.account_id = p.account_id and earlier.transaction_id = p.request_id) end
),
-- Each reason why it may have been made before, and the first that nobody has approved it for.
asked as not materialized (
  select w.*, found.reasons, case when w.approval_id is null then found.reasons[1]
      else (select tieout.unseen(i, found.reasons)
        from tieout.instructions i where i.instruction_id = w.instruction_id) end as unseen
  from wanted w
  cross join lateral (
    select case when w.is_blind or exists (
        select from lost l
        where (l.account_id = w.account_id or l.transaction_id = w.transaction_id)
          and l.kind = replace(w.need, 'cancel', 'capture')
          -- a request may have moved to another order since, and a person may call one otherwise
          and case when l.order_no is not null then l.order_no = w.order_no
              or l.refund_id = w.refund_id or l.transaction_id = w.transaction_id
            else l.currency = w.ledger_currency and l.amount = w.money::numeric(20, 2)::text end
          -- what came after it was found is another one, save where the very same is named: a
          -- ledger that dates requests as it loads them makes that younger each day
          and (l.found_at > least(coalesce(w.since, '-infinity'), case when l.order_no is not null
              then w.known_at end)
            or case w.need when 'refund' then l.refund_id = w.refund_id when 'payout'
              then l.order_no = w.order_no else l.transaction_id = w.transaction_id end)
      ) then array['restored'] end || w.doubles || array(
        select d.reason from tieout.doubles(w.account_id, w.order_no, w.need, w.transaction_id,
          w.refund_id, w.refund_amount, w.ledger_currency) d
        where w.need not in ('review', 'payout') and d.reason <> all (w.doubles)) as reasons
    offset 0
  ) found
  -- worked out once a row, as below: what is built on it would repeat it
  offset 0
),
weighed as not materialized (
  select w.*, case when w.send_block is not null then w.send_block
      when w.problem is not null then 'invalid_payout'
      when w.is_part and not $4::boolean then 'partial_capture'
      -- before all that a person may overrule without knowing of it
      when w.unseen = 'restored' then w.unseen
      when w.has_dispute then 'disputed'
      when w.unseen is not null then w.unseen
      when w.is_fraud then 'fraud_rejected'
      when w.freed_by is not null then 'newly_freed'
      -- of an amount whose unit nobody knows a limit cannot be kept
      when p.policy <> 'auto' or not w.is_in_totals then 'approval'
      when p.above is not null and not p.above ? w.ledger_currency then 'above_limit'
      when w.money > (p.above ->> w.ledger_currency)::numeric then 'above_limit'
      -- what leaves the account of who pays is as much a payout as what arrives
      when w.source_currency is not null and p.above is not null and (w.source_amount is null or not
        p.above ? w.source_currency or w.source_amount > (p.above ->> w.source_currency)::numeric)
        then 'above_limit'
    end as reason,
    case when w.approval_id is not null then coalesce(w.lapsed,
      -- who approved it before the database came back did not know of that
      case when w.approved_at < w.restored_at then 'approval_void' end,
      -- approved before the setting changed
      case when w.is_unseen then 'newly_freed' end) end as lapse,
    p.max_count, (p.max_amount ->> w.ledger_currency)::numeric as max_amount,
    (p.max_amount ->> w.source_currency)::numeric as max_source
  from asked w
  join policy p on p.operation = w.need offset 0
),
-- An approval stands for whatever a person may overrule, where nothing of that is left unseen.
freed as materialized (
  select *, approval_id is not null and lapse is null and unseen is null
      and (reason = any ($6::text[])) is not true as is_approved
  from weighed
),
moved as materialized (
  select operation, currency, coalesce(refund_amount, amount) as money, source_currency,
    source_amount
  from tieout.instructions
  where instruction_id in (select tieout.made_or_sent($1))
    and state not in ('planned', 'held', 'withdrawn') -- what waits in a batch counts with the rest
    and instruction_id not in (select instruction_id from freed where instruction_id is not null)
),
used as materialized (
  select operation, currency, sum(count) as count, sum(money) as money
  from (
    select operation, currency, count(*) as count,
      sum(greatest(money, case when source_currency = currency then source_amount end)) as money
    from moved group by operation, currency
    union all
    select operation, source_currency, 0, sum(source_amount)
    from moved where source_currency <> currency group by operation, source_currency
  ) as sums group by operation, currency
),
-- What counts towards the limits of the run: of a payout in two currencies both sums.
spent as materialized (
  select account_id, need, order_no, since, 1 as count, ledger_currency as currency,
    greatest(money, case when source_currency = ledger_currency then source_amount end) as money,
    max_amount
  from freed
  where (reason is null or is_approved) and num_nonnulls(max_count, max_amount, max_source) > 0
  union all
  select account_id, need, order_no, since, 0, source_currency, source_amount, max_source from freed
  where (reason is null or is_approved) and max_source is not null
    and source_currency <> ledger_currency
),
-- How many, and how much, with what went before: only where there is a limit.
counted as materialized (
  select account_id, need, order_no, max(count) as count, bool_or(money > max_amount) as is_past
  from (
    select account_id, need, order_no, max_amount,
      coalesce((select sum(count) from used u where u.operation = need), 0)
        + sum(count) over by_operation as count,
      coalesce((select money from used u where u.operation = need
          and u.currency = spent.currency), 0) + sum(money) over by_currency as money
    from spent
    window by_operation as (partition by need order by since, account_id, order_no),
      by_currency as (partition by need, currency order by since, account_id, order_no)
  ) as sums
  group by account_id, need, order_no
),
capped as materialized (
  select f.*, case when is_approved then null
      when reason = any ($6) then reason
      when approval_id is not null and lapse is null then unseen
      when reason in (unseen, 'disputed', 'fraud_rejected') then reason
      when reason is not null then coalesce(lapse, reason)
      when max_count < c.count or c.is_past then 'over_limit_of_run'
    end as hold_reason,
    nullif(array_to_string(array_remove(reasons, 'restored'), ' '), '') as doubled
  from freed f left join counted c using (account_id, need, order_no)
),
-- Who had an earlier instruction for the same need planned again: few.
again as materialized (
  select before.account_id, before.order_no, before.operation, before.transaction_id,
    coalesce(before.refund_id, '') as refund_id,
    array_agg(d.decided_by order by d.decision_id) as by
  from tieout.instructions before join tieout.decisions d on d.decision_id = before.replan_id
  where before.replan_id is not null
  group by 1, 2, 3, 4, 5
),
reweighed as (
  update tieout.instructions i
  set state = case when c.hold_reason is null then 'planned' else 'held' end,
    hold_reason = c.hold_reason, doubled = c.doubled, batch_id = null, changed_by = 'tieout',
    reason = c.problem
  from capped c
  where i.instruction_id = c.instruction_id
    and ((i.hold_reason, i.doubled) is distinct from (c.hold_reason, c.doubled)
      or c.problem is distinct from i.reason and c.hold_reason = 'invalid_payout')
    -- a person may have approved or rejected it just now
    and i.state = c.instruction_state
)
insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id, currency,
  amount, refund_id, refund_amount, refund_reason, review_decision, from_state, done_states, state,
  hold_reason, created_at, asked_by, reason, payload, is_in_totals, is_part, source_currency,
  source_amount, doubled)
select $1, c.account_id, c.order_no, c.need, c.transaction_id, c.ledger_currency, c.need_amount,
  c.refund_id, c.refund_amount, c.request_reason, c.review_decision, c.gateway_state, d.states,
  case when c.hold_reason is null then 'planned' else 'held' end, c.hold_reason, $2::timestamptz,
  array_remove(c.requested_by || coalesce(again.by, '{}'), null), c.problem, c.payload,
  c.is_in_totals, c.is_part, c.source_currency, c.source_amount, c.doubled
from capped c
left join done d on d.operation = c.need and d.decision is not distinct from c.review_decision
  and d.completes is not distinct from c.completes
left join again on again.account_id = c.account_id and again.order_no = c.order_no
  and again.operation = c.need and again.transaction_id = c.transaction_id
  and again.refund_id = coalesce(c.refund_id, '')
where c.instruction_id is null
order by c.account_id, c.need, c.since, c.order_no
on conflict do nothing
