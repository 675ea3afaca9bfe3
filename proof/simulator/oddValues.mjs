// Odd values at the two doors. The ledger's relations check nothing, as the views of a merchant do:
// rows without an amount, below zero, not a number, at no time, twice, with ids of any length. And
// answers of the gateway hold entries that no column can take. Whoever keeps the ledger mends it
// before the quiet nights; what a snapshot could not read, the next one reads.

/** Without its keys, checks and obligations a table lets in what a view would show. */
export const CHECKS_NOTHING = ['orders', 'refund_requests']
  .map(
    (table) => `
  do $$
  declare one record;
  begin
    for one in select conname from pg_constraint where conrelid = 'ledger.${table}'::regclass
      order by contype desc
    loop execute format('alter table ledger.${table} drop constraint %I', one.conname); end loop;
    for one in select attname from pg_attribute
      where attrelid = 'ledger.${table}'::regclass and attnum > 0 and attnotnull
    loop execute format('alter table ledger.${table} alter %I drop not null', one.attname); end loop;
  end $$;`,
  )
  .join('');

/** Random, so that nothing compresses it: an index row holds 2,700 bytes. */
const LONG_ID = `(select string_agg(md5(n::text), '') from generate_series(1, 125) n)`;

/** What an order's row has in place of its own value. */
const OF_ORDERS = [
  ['placed_at', `'-infinity'`],
  ['placed_at', `'infinity'`],
  ['placed_at', `null`],
  ['updated_at', `'infinity'`],
  ['amount', `null`],
  ['amount', `'NaN'`],
  ['amount', `-5`],
  ['capture_amount', `'NaN'`],
  ['transaction_id', LONG_ID],
  ['expected', `repeat('captured', 1000)`],
  ['currency', `'JPY'`],
  ['currency', `null`],
];
/** A further refund request of an order: id, amount, reason, time. */
const OF_REQUESTS = [
  [`'odd'`, `'NaN'`, `null`, `clock_timestamp()`],
  [`'odd'`, `-1`, `null`, `clock_timestamp()`],
  [`'odd'`, `null`, `null`, `clock_timestamp()`],
  [`null`, `1.00`, `null`, `clock_timestamp()`],
  [LONG_ID, `1.00`, `null`, `clock_timestamp()`],
  [`'odd'`, `1.00`, `null`, `null`],
  [`'odd'`, `1.00`, `null`, `'infinity'`],
  [`'odd'`, `1.00`, `repeat('because ', 200)`, `clock_timestamp()`],
];

export async function loosenLedger({ db }) {
  await db.query(CHECKS_NOTHING);
}

/** One odd row; `mend` of the wave takes it away again. */
export async function placeOddValue(wave) {
  const { db, odd: random, tally } = wave;
  const order = random.pick(random.pick(wave.list).layout.orders);
  const { account_id, order_no } = order;
  const where = 'account_id = $1 and order_no = $2';
  const key = [account_id, order_no];
  if (random.chance(0.5)) {
    const [column, value] = random.pick(OF_ORDERS);
    const { rows } = await db.query(`select * from ledger.orders where ${where}`, key);
    if (rows.length !== 1) return;
    await db.query(`update ledger.orders set ${column} = ${value} where ${where}`, key);
    const back = `update ledger.orders set ${column} = $3 where ${where}`;
    wave.toMend.push(() => db.query(back, [...key, order[column] ?? null]));
    tally.count('an order of the ledger with an odd value');
    return;
  }
  const [id, amount, reason, at] = random.pick(OF_REQUESTS);
  await db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
       requested_by, requested_at)
     select $1, ${id}, $2, ${amount}, ${reason}, 'odd', ${at}`,
    key,
  );
  const away = `delete from ledger.refund_requests where ${where} and requested_by = 'odd'`;
  wave.toMend.push(() => db.query(away, key));
  tally.count('a request of the ledger with an odd value');
}

export async function mendOddValues(wave) {
  for (const mend of wave.toMend.splice(0)) await mend();
}

const HUGE = '9'.repeat(18);

/** What an answered page holds in place of what it should. */
const OF_PAGES = [
  ([first, ...rest]) => [{ ...first, amount: `${HUGE}.99` }, ...rest],
  ([first, ...rest]) => [{ ...first, amount: '1e20' }, ...rest],
  ([first, ...rest]) => [{ ...first, amount: null }, ...rest],
  ([first, ...rest]) => [{ ...first, currency: 'no currency' }, ...rest],
  ([first, ...rest]) => [{ ...first, transaction_id: 'T'.repeat(3_000) }, ...rest],
  ([first, ...rest]) => [{ ...first, payment_status: '0'.repeat(5_000) }, ...rest],
  ([first, ...rest]) => [{ ...first, transaction_date: '99999999999999' }, ...rest],
  (all) => [...all, { ...all[0], order_no: 'N'.repeat(4_096), transaction_id: 'T' }],
  (all) => [...all, { ...all[0], order_no: 'NUL\u0000' }],
  (all) => [...all, { ...all[0], amount: '9.99' }],
  (all) => [...all, ...all],
  (all) => [...all, {}],
];

export function oddPage(page, random) {
  if (page.orders_list.length === 0) return page;
  return { ...page, orders_list: random.pick(OF_PAGES)(page.orders_list) };
}
