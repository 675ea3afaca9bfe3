-- What should be sent? At most one instruction an order and run; each is planned, or held with the
-- reason why it waits for a person. Those that waited already are weighed again by the same rules;
-- one that a person approved goes, as long as that holds.
-- $1 run, $2 now, $3 policies as json [{operation, policy, above (by currency) | null,
-- max_count | null, max_amount (by currency) | null}], $4 partial captures,
-- $5 proofs as json [{operation, decision, before, after}] (core/instruction.ts),
-- $6 states that show a refund done, by whether it completes the amount (core/instruction.ts),
-- $7 reasons to hold that no approval overrules (core/decision.ts), $8 payout requests that wait,
-- as json (night/payouts.ts): each once, with its amount in money, or why it cannot be sent.
with policy as materialized (
  select * from jsonb_to_recordset($3::jsonb) as p (operation text, policy text, above jsonb,
    max_count bigint, max_amount jsonb)
),
proof as materialized (
  select * from jsonb_to_recordset($5::jsonb)
    as p (operation text, decision text, before text, after jsonb)
),
-- When the database last came back from a backup: it has forgotten what was sent before that.
restored as materialized (
  select coalesce(max(at), '-infinity') as at from tieout.brakes where found ? 'restoredFrom'
),
-- What the verdicts need, and what payout requests ask for: from here on both are weighed alike.
wanted as materialized (
  select v.account_id, v.order_no, v.need, v.transaction_id, v.ledger_currency, v.need_amount,
    v.refund_id, v.refund_amount, v.completes, v.review_decision, v.gateway_state,
    v.need = 'capture' and not $4::boolean and v.need_amount < v.ledger_amount as is_partial,
    i.instruction_id, i.state as instruction_state, i.approval_id, ra.send_block,
    coalesce(v.refund_amount, v.need_amount) as money,
    coalesce(r.requested_at, o.placed_at) as since, r.reason as request_reason, r.requested_by,
    -- a review is the merchant's own answer to the fraud check
    v.need <> 'review' and exists (select from tieout.look_entries e
      where e.pull_id = v.pull_id and e.account_id = v.account_id and e.order_no = v.order_no
        and e.transaction_id = v.transaction_id and e.fraud_rejected) as is_fraud,
    -- a part more of what is refunded in part already: no look tells it from the part before
    v.need = 'refund' and v.gateway_state = 'partially_refunded' and not v.completes
      and r.requested_at < restored.at as is_blind,
    null::text as problem, null::jsonb as payload, true as is_in_totals
  from tieout.verdicts v
  cross join restored
  join tieout.run_accounts ra using (run_id, account_id)
  left join tieout.asked_orders o
    on o.pull_id = v.pull_id and o.account_id = v.account_id and o.order_no = v.order_no
  left join ledger.refund_requests r
    on r.account_id collate "C" = v.account_id and r.refund_id collate "C" = v.refund_id
  left join tieout.instructions i
    on i.account_id = v.account_id and i.order_no = v.order_no
      and i.is_open
  where v.run_id = $1::bigint and v.need is not null
    and (i.instruction_id is null or i.state in ('planned', 'held'))
    -- what a confirmation of this run makes possible is the next run's
    and (i.instruction_id is not null or not exists (
      select from tieout.instructions earlier
      where earlier.run_id = $1 and earlier.account_id = v.account_id
        and earlier.order_no = v.order_no))
  union all
  select p.account_id, p.request_id, 'payout', p.request_id, p.currency, p.amount, null, null,
    null, null, 'requested', false, i.instruction_id, i.state, i.approval_id, ra.send_block,
    p.amount, p.requested_at, null, null, false, p.requested_at < restored.at, p.problem,
    p.payload, p.is_in_totals
  from jsonb_to_recordset($8::jsonb) as p (account_id text, request_id text, currency text,
    amount numeric, requested_at timestamptz, problem text, payload jsonb, is_in_totals boolean)
  cross join restored
  join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = p.account_id
  left join tieout.instructions i
    on i.operation = 'payout' and i.account_id = p.account_id and i.transaction_id = p.request_id
      and i.is_open
  where (i.instruction_id is null or i.state in ('planned', 'held'))
    and (i.instruction_id is not null or not exists (
      select from tieout.instructions earlier
      where earlier.run_id = $1 and earlier.operation = 'payout'
        and earlier.account_id = p.account_id and earlier.transaction_id = p.request_id))
),
weighed as materialized (
  select w.*, case
      when w.send_block is not null then w.send_block
      when w.problem is not null then 'invalid_payout'
      when w.is_partial then 'partial_capture'
      when w.is_fraud then 'fraud_rejected'
      when w.is_blind then 'restored'
      -- of an amount whose unit nobody knows a limit cannot be kept
      when p.policy <> 'auto' or not w.is_in_totals then 'approval'
      when p.above is not null and not p.above ? w.ledger_currency then 'above_limit'
      when w.money > (p.above ->> w.ledger_currency)::numeric then 'above_limit'
    end as reason,
    p.max_count, (p.max_amount ->> w.ledger_currency)::numeric as max_amount
  from wanted w
  join policy p on p.operation = w.need
),
used as materialized (
  select operation, currency, count(*) as count, sum(coalesce(refund_amount, amount)) as money
  from tieout.instructions
  where run_id = $1 and state not in ('planned', 'held', 'withdrawn')
  group by operation, currency
),
-- An approval stands for every reason that a person may overrule.
approved as materialized (
  select i.instruction_id, coalesce(tieout.approval_lapse(i),
    case when w.reason = 'restored' and d.at < restored.at then 'restored' end) as lapse
  from weighed w
  cross join restored
  join tieout.instructions i using (instruction_id)
  join tieout.decisions d on d.decision_id = i.approval_id
  where w.approval_id is not null
),
freed as materialized (
  select w.*, approved.instruction_id is not null and approved.lapse is null
      and (w.reason = any ($7::text[])) is not true as is_approved,
    approved.lapse
  from weighed w
  left join approved using (instruction_id)
),
capped as materialized (
  select w.*, case
      when is_approved then null
      when reason = any ($7) or reason = 'fraud_rejected' then reason
      when reason is not null then coalesce(lapse, reason)
      when max_count < coalesce((select sum(count) from used u where u.operation = w.need), 0)
        + count(*) filter (where reason is null or is_approved) over by_operation
        then 'over_limit_of_run'
      when max_amount < coalesce((select money from used u
          where u.operation = w.need and u.currency = w.ledger_currency), 0)
        + sum(money) filter (where reason is null or is_approved) over by_currency
        then 'over_limit_of_run'
    end as hold_reason
  from freed w
  window by_operation as (partition by need order by since, account_id, order_no),
    by_currency as (partition by need, ledger_currency order by since, account_id, order_no)
),
-- Who had an earlier instruction for the same need planned again: few.
again as materialized (
  select before.account_id, before.order_no, before.operation, before.transaction_id,
    coalesce(before.refund_id, '') as refund_id,
    array_agg(d.decided_by order by d.decision_id) as by
  from tieout.instructions before
  join tieout.decisions d on d.decision_id = before.replan_id
  where before.replan_id is not null
  group by 1, 2, 3, 4, 5
),
reweighed as (
  update tieout.instructions i
  set state = case when c.hold_reason is null then 'planned' else 'held' end,
    hold_reason = c.hold_reason, changed_by = 'tieout'
  from capped c
  where i.instruction_id = c.instruction_id and i.hold_reason is distinct from c.hold_reason
    -- a person may have approved or rejected it just now
    and i.state = c.instruction_state
  returning i.instruction_id
)
insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id, currency,
  amount, refund_id, refund_amount, refund_reason, review_decision, from_state, done_states, state,
  hold_reason, created_at, asked_by, reason, payload, is_in_totals)
select $1, c.account_id, c.order_no, c.need, c.transaction_id, c.ledger_currency, c.need_amount,
  c.refund_id, c.refund_amount,
  c.request_reason, c.review_decision, c.gateway_state,
  case when c.need = 'payout' then array['completed']
    when c.need = 'refund' then
      array(select jsonb_array_elements_text($6::jsonb -> c.completes::text))
    else (select array(select jsonb_array_elements_text(p.after)) from proof p
      where p.operation = c.need and p.decision is not distinct from c.review_decision) end,
  case when c.hold_reason is null then 'planned' else 'held' end, c.hold_reason, $2::timestamptz,
  array_remove(c.requested_by || coalesce(again.by, '{}'), null), c.problem, c.payload,
  c.is_in_totals
from capped c
left join again on again.account_id = c.account_id and again.order_no = c.order_no
  and again.operation = c.need and again.transaction_id = c.transaction_id
  and again.refund_id = coalesce(c.refund_id, '')
where c.instruction_id is null
order by c.account_id, c.need, c.since, c.order_no
on conflict do nothing
