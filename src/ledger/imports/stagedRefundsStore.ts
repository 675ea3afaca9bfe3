// The SQL that brings staged lines into ledger.refund_requests, step by step as in
// stagedOrdersStore.ts. A refund request's amount and order never change: what was sent to the
// gateway under its id must stay what the ledger says. Neighbour: ledger/imports/tableImport.ts.

export const REFUND_STATEMENTS = {
  create: `
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  account_id text collate "C" not null,
  refund_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_amount numeric(20, 2) not null,
  reason text,
  requested_by text,
  requested_at timestamptz not null
) on commit drop`,

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::numeric[],
  $8::text[], $9::text[], $10::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, refund_id as value, first_file, first_line
from (
  select file_no, line_no, refund_id,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by account_id, refund_id order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.refund_requests in share row exclusive mode',

  fate: `
create temp table import_fate on commit drop as
select file_no, line_no, account_id, refund_id, order_no, refund_amount, reason, requested_by,
  requested_at, held_amount, held_order_no, held_requested_at,
  case
    when held_amount is null then 'inserted'
    when (order_no, refund_amount, reason, requested_by, requested_at)
      is not distinct from
      (held_order_no, held_amount, held_reason, held_requested_by, held_requested_at)
      then 'unchanged'
    else 'updated'
  end as fate
from (
  select l.file_no, l.line_no, l.account_id, l.refund_id, l.order_no, l.refund_amount,
    case when l.given & 1 = 0 then r.reason else l.reason end as reason,
    case when l.given & 2 = 0 then r.requested_by else l.requested_by end as requested_by,
    -- the first time told stays: one that counts as history is not made younger
    least(l.requested_at, r.requested_at) as requested_at,
    r.order_no as held_order_no, r.refund_amount as held_amount, r.reason as held_reason,
    r.requested_by as held_requested_by, r.requested_at as held_requested_at
  from import_line l
  left join ledger.refund_requests r
    on r.account_id = l.account_id and r.refund_id = l.refund_id
) merged`,

  // $2: older lines are taken, too; $3: coarse currencies, with what amounts in them must be.
  refused: `
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'refund_amount' as "column", refund_amount::text as value,
    'the amount of a refund never changes: the ledger has ' || held_amount as reason
  from import_fate
  where refund_amount <> held_amount
  union all
  select file_no, line_no, 'order_no', order_no,
    'the order of a refund never changes: the ledger has ' || held_order_no
  from import_fate
  where order_no <> held_order_no
  union all
  select f.file_no, f.line_no, 'refund_amount', f.refund_amount::text,
    c.reason
  from import_fate f
  join ledger.orders o on o.account_id = f.account_id and o.order_no = f.order_no
  join jsonb_to_recordset($3::jsonb) as c (currency text, decimals int, reason text)
    on c.currency = o.currency
  where f.refund_amount <> trunc(f.refund_amount, c.decimals)
  union all
  select file_no, line_no, 'requested_at', to_char(requested_at at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'steps back, the ledger has ' || to_char(held_requested_at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': an older export? --allow-older takes it all the same'
  from import_fate
  where requested_at < held_requested_at and not $2::boolean
) refused
order by file_no, line_no
limit $1`,

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  apply: `
insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
  requested_by, requested_at)
select account_id, refund_id, order_no, refund_amount, reason, requested_by, requested_at
from import_fate
where fate in ('inserted', 'updated')
on conflict (account_id, refund_id) do update set
  reason = excluded.reason,
  requested_by = excluded.requested_by,
  requested_at = excluded.requested_at`,

  withoutOrder: `
select count(*) as lines
from import_fate f
where not exists (
  select from ledger.orders o where o.account_id = f.account_id and o.order_no = f.order_no)`,
} as const;
