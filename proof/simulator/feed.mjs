// The feed of the ledger says beside it what it has brought (ledger.control_totals): rightly, of
// other figures, not finished, or not at all. Until it is put right nobody knows whether the ledger
// is whole, and the night of that account is incomplete.

const DAY_MS = 86_400_000;

/** What the ledger holds of an account and date, by currency; of a date without orders a zero. */
const HELD = `with held as (
    select currency, count(*) as count, sum(amount) as amount from ledger.orders
    where account_id = $1 and placed_at >= $2::date and placed_at < $2::date + 1 group by currency)
  select currency, count, amount from held
  union all select 'EUR', 0, 0 where not exists (select from held)`;
const LINE = `insert into ledger.control_totals (account_id, business_date, currency, count, amount,
    complete_at)
  select $1, $2::date, coalesce(currency, ''), count + $3, amount, case when $4 then
    clock_timestamp() end
  from (${HELD}) as told where amount < 1e15
  on conflict (account_id, business_date, currency) do update set count = excluded.count,
    amount = excluded.amount, complete_at = excluded.complete_at`;

/** [weight, name, orders too many, whether it is finished]; without a figure the line goes. */
const LINES = [
  [3, 'right', 0, true],
  [2, 'wrong', 1, true],
  [1, 'unfinished', 0, false],
  [1, 'gone', null, false],
];

/** One line of one account, where it falls. */
export async function tellFeed(wave) {
  const { draws, feeder: random, db, tally, clock } = wave;
  if (!draws.falls(random, 'the feed is checked')) return;
  const { accountId } = random.pick(wave.list).layout;
  const date = dateAt(clock.now().getTime() - random.between(1, 4) * DAY_MS);
  const [name, more, isFinished] = random.weighted(LINES.map(([w, ...one]) => [w, one]));
  const { rowCount } =
    more === null
      ? await db.query(
          'delete from ledger.control_totals where account_id = $1 and business_date = $2::date',
          [accountId, date],
        )
      : await db.query(LINE, [accountId, date, more, isFinished]);
  if (rowCount > 0) tally.count(`a line of the feed: ${name}`);
}

/** The feed is brought in, as the runbook says: each date until now, of each account that has one. */
export async function completeFeed({ draws, db, clock }) {
  if (!draws.has('the feed is checked')) return;
  const { rows } = await db.query(
    `select account_id, to_char(d, 'YYYY-MM-DD') as date
     from (select account_id, min(business_date) as first
       from (select account_id, business_date from ledger.control_totals
         union select account_id, business_date from tieout.feed_checks) once group by 1) used
     cross join generate_series(used.first::timestamp, $1::timestamp, '1 day') d order by 1, 2`,
    [dateAt(clock.now().getTime() + DAY_MS)],
  );
  await db.query('delete from ledger.control_totals');
  for (const { account_id, date } of rows) await db.query(LINE, [account_id, date, 0, true]);
}

/** How often a night could not know whether the ledger is whole. */
export async function countGaps({ db, tally }) {
  const { rows } = await db.query(
    `select count(*)::int as gaps from tieout.feed_checks where verdict not in ('equal', 'unusable')`,
  );
  tally.add('the ledger was not known to be whole', rows[0].gaps);
}

const dateAt = (ms) => new Date(ms).toISOString().slice(0, 10);
