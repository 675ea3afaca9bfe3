// The SQL that brings staged lines into ledger.orders. The lines lie in a temporary table of the
// import's own transaction; `fate` decides what becomes of each, `apply` writes it. Neighbour:
// ledger/imports/tableImport.ts runs them in this order. `given` has a bit for each nullable column
// of the line.

export const ORDER_STATEMENTS = {
  // Collations as in the ledger, or the two could not be compared.
  create: `
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  currency text not null,
  amount numeric(20, 2) not null,
  expected text not null,
  transaction_id text collate "C",
  capture_amount numeric(20, 2),
  review_decision text,
  placed_at timestamptz not null,
  updated_at timestamptz
) on commit drop`,

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::numeric[],
  $8::text[], $9::text[], $10::numeric[], $11::text[], $12::timestamptz[], $13::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, order_no as value, first_file, first_line
from (
  select file_no, line_no, order_no,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by account_id, order_no order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.orders in share row exclusive mode',

  // A column that the line does not have keeps what the ledger holds. $1: older lines are taken,
  // too.
  fate: `
create temp table import_fate on commit drop as
select file_no, line_no, account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at,
  line_time, held_expected, held_updated_at,
  case
    when held is null then 'inserted'
    when line_time < (held).updated_at and not $1::boolean then 'skipped'
    when (currency, amount, expected, transaction_id, capture_amount, review_decision,
          placed_at, updated_at)
      is not distinct from
      ((held).currency, (held).amount, (held).expected, (held).transaction_id,
       (held).capture_amount, (held).review_decision, (held).placed_at, (held).updated_at)
      then 'unchanged'
    else 'updated'
  end as fate
from (
  select l.file_no, l.line_no, l.account_id, l.order_no, l.currency, l.amount, l.expected,
    case when l.given & 1 = 0 then o.transaction_id else l.transaction_id end as transaction_id,
    case when l.given & 2 = 0 then o.capture_amount else l.capture_amount end as capture_amount,
    case when l.given & 4 = 0 then o.review_decision else l.review_decision end
      as review_decision,
    l.placed_at,
    case when l.given & 8 = 0 then o.updated_at else l.updated_at end as updated_at,
    l.updated_at as line_time, o.expected as held_expected, o.updated_at as held_updated_at,
    case when o.account_id is not null then o end as held
  from import_line l
  left join ledger.orders o on o.account_id = l.account_id and o.order_no = l.order_no
) merged`,

  // $2: older lines are taken, too; $3: how far an expected state has come, in order. A newer time
  // proves that a line is the later word, whatever it says.
  refused: `
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'capture_amount' as "column", capture_amount::text as value,
    'the line has no capture_amount, and the one in the ledger is above the new amount' as reason
  from import_fate
  where fate = 'updated' and capture_amount > amount
  union all
  select file_no, line_no, 'expected', expected,
    'steps back, the ledger has ' || held_expected
      || ': an older export? --allow-older takes it all the same'
  from import_fate
  where fate = 'updated' and not $2::boolean and (line_time > held_updated_at) is not true
    and array_position($3::text[], expected) < array_position($3::text[], held_expected)
  union all
  select file_no, line_no, 'updated_at', null,
    'steps back, the ledger has ' || to_char(held_updated_at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': an older export? --allow-older takes it all the same'
  from import_fate
  where fate = 'updated' and not $2::boolean and held_updated_at is not null
    and updated_at is null
) refused
order by file_no, line_no, "column"
limit $1`,

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  // $1: the separator of the list in which orders are asked for, $2: how many lines are named.
  neverAsked: `
select line_no as line, order_no, count(*) over () as lines
from import_fate where position($1 in order_no) > 0
order by file_no, line_no
limit $2`,

  apply: `
insert into ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at)
select account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at
from import_fate
where fate in ('inserted', 'updated')
on conflict (account_id, order_no) do update set
  currency = excluded.currency,
  amount = excluded.amount,
  expected = excluded.expected,
  transaction_id = excluded.transaction_id,
  capture_amount = excluded.capture_amount,
  review_decision = excluded.review_decision,
  placed_at = excluded.placed_at,
  updated_at = excluded.updated_at`,
} as const;
