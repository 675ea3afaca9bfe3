// Somebody edits the ledger, by hand or by another system behind a view: rows go, come back, are
// renamed, lowered, or move to another order or account. What was asked for,
// and when, is kept beside it (asked.mjs).

import { rewriteLedger } from './rewrites.mjs';

const REQUEST = 'account_id = $1 and refund_id = $2';
const ORDER = 'account_id = $1 and order_no = $2';

/** Edits that are draws of their own. */
const NEEDS = {
  'a request moved to another order': 'requests that move to another order',
  'a request re-created': 'requests that come back',
};

/** [weight, name, what it does to an order of a world]. */
const EDITS = [
  [2, 'a request deleted', (edit) => edit.request(`delete from ledger.refund_requests`)],
  [
    2,
    'a request renamed',
    (edit) => edit.request(`update ledger.refund_requests set refund_id = refund_id || '-b'`),
  ],
  [
    2,
    'a request lowered',
    (edit) =>
      edit.request(
        `update ledger.refund_requests set refund_amount = round(refund_amount / 2, 2)`,
        {
          and: 'and refund_amount > 1',
        },
      ),
  ],
  [
    1,
    'a request moved to another order',
    (edit) =>
      edit.request(
        `update ledger.refund_requests r set order_no = (select order_no
        from ledger.orders o where o.account_id = r.account_id and o.order_no <> r.order_no
        order by 1 limit 1)`,
        {
          and: `and exists (select from ledger.orders o where o.account_id = r.account_id
          and o.order_no <> r.order_no)`,
        },
      ),
  ],
  [3, 'a request re-created', (edit) => edit.bringBack()],
  [1, 'an order deleted', (edit) => edit.order(`delete from ledger.orders`)],
  [3, 'an order re-created', (edit) => edit.bringBackOrder()],
  [1, 'a payout deleted', (edit) => edit.payout(`delete from ledger.payout_requests`)],
  [
    1,
    'a payout changed',
    (edit) =>
      edit.payout(`update ledger.payout_requests
        set payload = payload || '{"payment_amount": "7"}'::jsonb`),
  ],
  [
    1,
    'a payout moved to another account',
    (edit) => edit.payout(`update ledger.payout_requests set account_id = $2`),
  ],
];

/** What somebody else does to the ledger between two statements, where it falls. */
export async function changeLedger(wave) {
  if (wave.draws.falls(wave.editor, 'edits of the ledger')) await editLedger(wave);
  if (wave.draws.falls(wave.rewriter, 'the ledger is rewritten')) await rewriteLedger(wave);
}

/** One edit of one order; counts it where a row was touched. */
async function editLedger(wave) {
  const { random, world } = { random: wave.editor, world: wave.editor.pick(wave.list) };
  const order = random.pick(world.layout.orders);
  if (wave.draws.falls(random, 'requests without an order')) {
    return strand(wave, order);
  }
  const [name, perform] = random.weighted(EDITS.map(([w, ...one]) => [w, one]));
  const needs = NEEDS[name];
  if (needs !== undefined && !wave.draws.has(needs)) return undefined;
  const rows = await perform(editorOf(wave, world, order, random));
  if (rows > 0) wave.tally.count(name);
  return undefined;
}

function editorOf({ db, list, kept }, { layout }, order, random) {
  const { account_id, order_no } = order;
  const refund = order.refunds.length === 0 ? null : random.pick(order.refunds);
  const run = async (text, values) => (await db.query(text, values)).rowCount;
  return {
    async request(text, { and = '' } = {}) {
      if (refund === null) return 0;
      if (text.startsWith('delete')) await keep(db, kept, 'refund_requests', REQUEST, refund);
      return run(`${text} where ${REQUEST} ${and}`, [account_id, refund.refund_id]);
    },
    async order(text) {
      const { rows } = await db.query(`select * from ledger.orders where ${ORDER}`, [
        ...[account_id, order_no],
      ]);
      if (rows.length > 0) kept.push({ table: 'orders', account_id, order_no, row: rows[0] });
      return run(`${text} where ${ORDER}`, [account_id, order_no]);
    },
    async payout(text) {
      const [payout] = layout.payouts;
      if (payout === undefined) return 0;
      const values = [payout.request_id];
      if (text.includes('$2')) values.push(random.pick(list).layout.accountId);
      return run(`${text} where request_id = $1`, values);
    },
    bringBack: () => bringBack(db, kept, 'refund_requests', random),
    bringBackOrder: () => bringBack(db, kept, 'orders', random),
  };
}

async function keep(db, kept, table, where, { account_id, refund_id, order_no }) {
  const { rows } = await db.query(`select * from ledger.${table} where ${where}`, [
    ...[account_id, refund_id],
  ]);
  for (const row of rows) kept.push({ table, account_id, order_no, row });
}

const KEY_OF = { orders: 'order_no', refund_requests: 'refund_id' };

async function bringBack(db, kept, table, random) {
  const those = kept.filter((one) => one.table === table);
  if (those.length === 0) return 0;
  const one = random.pick(those);
  kept.splice(kept.indexOf(one), 1);
  const { rowCount } = await db.query(
    `insert into ledger.${table}
     select * from jsonb_populate_record(null::ledger.${table}, $1) as back
     where not exists (select from ledger.${table} there
       where there.account_id = back.account_id
         and there.${KEY_OF[table]} = back.${KEY_OF[table]})`,
    [JSON.stringify(one.row)],
  );
  return rowCount;
}

/** The orders that left come back before the end, so that the books can be held against them. */
export async function bringAllBack(wave) {
  const random = { pick: (list) => list[0] };
  while (wave.kept.some(({ table }) => table === 'orders')) {
    await bringBack(wave.db, wave.kept, 'orders', random);
  }
}

async function strand({ db, tally }, { account_id, order_no }) {
  const { rowCount } = await db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
       requested_at)
     select $1, 'stray-' || $2, $2 || '-typo', 1.23, 'returned', clock_timestamp()
     where not exists (select from ledger.refund_requests
       where account_id = $1 and refund_id = 'stray-' || $2)`,
    [account_id, order_no],
  );
  if (rowCount > 0) tally.count('a request without an order');
}
