-- Which of a batch once waited past the limits of a run, and nobody approved, where what was let go
-- in the run without approval is past these limits: a plan lets go no more than that, so that
-- somebody else did. What is let go is added up only where there is such an instruction.
-- $1 batch, $2 the account's newest run, $3 operation, $4 count | null, $5 amount by currency.
with once as materialized (
  select i.instruction_id
  from tieout.instructions i
  cross join lateral tieout.waits_still(i) still
  where i.batch_id = $1::bigint and i.state = 'queued' and i.approval_id is null
    and still.over_limit
),
let_go as materialized (
  select currency, coalesce(refund_amount, amount) as money, source_currency, source_amount
  from tieout.instructions
  where exists (select from once)
    and (batch_id = $1 or instruction_id in (select tieout.made_or_sent($2::bigint)))
    and operation = $3::text and approval_id is null
    and state not in ('planned', 'held', 'withdrawn')
),
-- Of a payout in two currencies both sums, as in plan.sql.
side as (
  select currency,
    greatest(money, case when source_currency = currency then source_amount end) as money
  from let_go
  union all
  select source_currency, source_amount from let_go where source_currency <> currency
)
select instruction_id as "instructionId" from once
where (select count(*) from let_go) > $4::bigint
  or exists (select from side group by currency
    having sum(money) > ($5::jsonb ->> currency)::numeric)
order by instruction_id
