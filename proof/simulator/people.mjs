// People with the runbook in hand: they read what waits and decide, pull the brake and let it go,
// find out in the merchant portal what became of an unknown one, and move money by a call of
// tieout's. They are honest: what they say of the gateway is what it shows. What they do not know
// is what is still on its way.

import { hundredths, movedOf } from '../auditor/books.mjs';
import { HOSTS } from './world.mjs';

const WAITING = `select instruction_id, account_id, operation, state, hold_reason, order_no,
    transaction_id, currency, amount::text, refund_id, refund_amount::text,
    (select (sum(refund_amount) * 100)::bigint::text from ledger.refund_requests asked
      where asked.account_id = i.account_id and asked.order_no = i.order_no
        and asked.refund_amount > 0 and asked.refund_amount < 1e15) as asked
  from tieout.instructions i where state in ('held', 'unknown', 'queued', 'rejected')
  order by instruction_id`;
const ANNA = { name: 'anna', isClaim: true };
const BERT = { name: 'bert', isClaim: true };
/** What waits for these reasons is decided without the portal. */
export const BLIND = new Set([
  ...['approval', 'above_limit', 'over_limit_of_run', 'approval_expired', 'approval_void'],
  'fraud_rejected',
]);
const DECIDED_AT_ONCE = 12;

/** One person comes by, and does one of the things that the runbook names. */
export async function comeBy(wave) {
  const { draws, people: random } = wave;
  if (draws.falls(random, 'people decide')) await decideSome(wave, DECIDED_AT_ONCE);
  if (draws.falls(random, 'people pull the brake')) await turnBrake(wave);
  if (draws.falls(random, 'people call by hand')) await callByHand(wave);
}

/** Before the quiet nights: whatever stops the sending is let go, as the runbook says. */
export async function letAllGo(wave) {
  await brakeOff(wave, null);
  const { rows } = await wave.db.query(
    `select distinct account_id from tieout.brakes where account_id is not null order by 1`,
  );
  for (const { account_id } of rows) await brakeOff(wave, account_id);
}

export async function decideSome(wave, most) {
  const { people: random, tally } = wave;
  const { rows } = await wave.db.query(WAITING);
  if (rows.length === 0) return;
  await countMovements(wave);
  const turns = Math.min(rows.length, 1 + random.below(most));
  for (let turn = 0; turn < turns; turn += 1) {
    const row = random.pick(rows);
    const choice = choose(wave, row, random);
    if (choice === null) continue;
    const { who, ...decision } = choice;
    const ids = [BigInt(row.instruction_id)];
    const [verdict] = await wave.program.decisions.decideInstructions(deps(wave), {
      ...{ ids, decision, who },
    });
    if (verdict.kind === 'done') tally.count(`a person: ${nameOf(decision)}`);
    else if (verdict.kind === 'refused') tally.count('a person was refused');
  }
}

const nameOf = ({ kind, finding }) => (kind === 'resolve' ? `it ${finding}` : kind);

function choose(wave, row, random) {
  const approve = { kind: 'approve', reason: null, who: ANNA };
  const reject = { kind: 'reject', reason: 'the customer keeps it', who: ANNA };
  switch (row.state) {
    case 'held':
      if (random.chance(0.1)) return reject;
      if (BLIND.has(row.hold_reason)) return approve;
      return hasHappened(wave, row) || isPastAsked(wave, row) ? reject : approve;
    case 'queued':
      return random.chance(0.1) ? reject : null;
    case 'rejected':
      return random.chance(0.5) ? { kind: 'replan', reason: null, who: BERT } : null;
    default:
      return resolution(wave, row);
  }
}

/** Only once nothing of the account is on its way any more: a person waits for that long. */
function resolution(wave, row) {
  if (!wave.readsPortal) return null;
  const world = wave.worlds.get(row.account_id);
  if (world === undefined || world.fibres.size > 0) return null;
  if (wave.effectsToCome.some(({ account }) => account === row.account_id)) return null;
  const finding = hasHappened(wave, row) ? 'happened' : 'not_happened';
  return { kind: 'resolve', finding, reason: 'seen in the portal', reference: 'P-1', who: ANNA };
}

const UNDONE = { capture: 'authorised', cancel: 'authorised', review: 'in_review' };

/** What the portal shows of the same movement, more often than others of ours account for it. */
function hasHappened(wave, row) {
  const one = wave.gateway.transactionOf(row.account_id, row.transaction_id);
  if (row.state === 'held' && row.operation in UNDONE && one !== undefined) {
    return one.state !== UNDONE[row.operation];
  }
  const shown = wave.gateway.journal.filter((line) => isSame(line, row)).length;
  const others = (wave.counted?.get(keyOf(row)) ?? 0) - (row.state === 'confirmed' ? 1 : 0);
  return shown > others;
}

/** With what the portal shows as given back it would be more than is asked for. */
function isPastAsked({ gateway }, row) {
  const one = gateway.transactionOf(row.account_id, row.transaction_id);
  if (row.operation !== 'refund' || one === undefined) return false;
  return BigInt(one.refunded) + (moneyOf(row) ?? 0n) > BigInt(row.asked ?? 0);
}

function isSame(line, row) {
  if (line.account_id !== row.account_id || line.operation !== row.operation) return false;
  // the portal shows what was paid, not only under which number
  if (row.operation === 'payout') {
    const isAmount = row.amount === null || movedOf(line) === movedOf(row);
    return line.order_no === row.order_no && isAmount;
  }
  if (line.transaction_id !== row.transaction_id) return false;
  // of a transaction a part may have been captured, or all of it
  if (row.operation === 'capture') return movedOf(line) === movedOf(row);
  return row.operation !== 'refund' || hundredths(line.refund_amount) === moneyOf(row);
}

const moneyOf = (row) => hundredths(row.refund_amount);
const keyOf = (row) =>
  [row.account_id, row.operation, row.transaction_id, row.refund_amount ?? ''].join(' ');

/** Equal movements that are counted already: the portal shows those as well. */
async function countMovements(wave) {
  const { rows } = await wave.db.query(
    `select account_id, operation, transaction_id, refund_amount::text, count(*)::int as n
     from tieout.instructions where state in ('confirmed', 'accepted') group by 1, 2, 3, 4`,
  );
  wave.counted = new Map(rows.map((row) => [keyOf(row), row.n]));
}

async function turnBrake(wave) {
  const { people: random, tally } = wave;
  if (wave.braked.length > 0 && random.chance(0.8)) return brakeOff(wave, wave.braked.shift());
  const accountId = random.chance(0.1) ? null : random.pick([...wave.worlds.keys()]);
  wave.braked.push(accountId);
  await wave.program.brake.pullBrake(deps(wave), { accountId, reason: 'wait', who: ANNA });
  tally.count('a person pulled the brake');
}

async function brakeOff(wave, accountId) {
  const order = { accountId, reason: 'it is well', who: ANNA };
  const { lifted } = await wave.program.brake.letBrakeGo(deps(wave), order);
  if (lifted.length > 0) wave.tally.count('a person let the brake go');
}

/** `tieout gateway OPERATION --yes`, for what the portal shows to be still undone. */
async function callByHand(wave) {
  const { people: random, program, gateway } = wave;
  const world = random.pick([...wave.worlds.values()]);
  const call = callFor(wave, world, random);
  if (call === null) return;
  const { operation, fields } = call;
  const account = wave.config.accounts.find((one) => one.accountId === world.layout.accountId);
  if (account === undefined) return;
  const client = {
    ...program.payments.withPayments(wave.base.gateway),
    postOnce: async (_, request, mayPost) => {
      const mayWrite = await mayPost();
      if (!mayWrite()) return { kind: 'not_sent', reason: 'the time budget was used up' };
      return gateway.byCall(operation, request, random.uuid());
    },
  };
  const by = { name: 'dora', isClaim: true };
  const given = { operation, by, fields };
  const own = { ...wave.base, now: wave.nowOf(HOSTS[0]), journal: wave.journalOf(HOSTS[0]) };
  const journal = program.gatewayJournal.journalled(own, client, given);
  try {
    const report = await program.gatewayCall.callGateway(
      journal.client,
      account,
      operation,
      fields,
    );
    await journal.end(report);
    wave.tally.count(`called by hand: ${operation}`);
  } catch (error) {
    if (!(error instanceof program.errors.InputError)) throw error;
    wave.tally.count('a call by hand was refused by the brake');
  }
}

function callFor({ gateway }, { layout }, random) {
  if (layout.payouts.length > 0 && random.chance(0.3)) {
    const [payout] = layout.payouts;
    const { payment_amount, payment_currency } = payout.payload;
    const isMade = gateway.journal.some((line) => line.order_no === payout.request_id);
    if (isMade) return null;
    const fields = { request_id: payout.request_id, payment_amount, payment_currency };
    return { operation: 'payout', fields };
  }
  const order = random.pick(layout.orders);
  const shown = gateway.transactionOf(layout.accountId, order.transaction_id);
  const entry = {
    transaction_id: order.transaction_id,
    order_no: order.order_no,
    currency: order.currency,
    amount: order.amount,
  };
  if (shown.state === 'authorised') {
    const operation = order.expected === 'captured' ? 'capture' : 'cancel';
    return { operation, fields: { [`${operation}_orders`]: [entry] } };
  }
  const [refund] = order.refunds;
  if (refund === undefined || !['captured', 'partially_refunded'].includes(shown.state))
    return null;
  const isDone = gateway.journal.some(
    (line) =>
      line.operation === 'refund' &&
      line.transaction_id === order.transaction_id &&
      line.refund_amount === refund.refund_amount,
  );
  if (isDone) return null;
  const more = { refund_amount: refund.refund_amount, refund_reason: 'by hand' };
  return { operation: 'refund', fields: { refund_orders: [{ ...entry, ...more }] } };
}

export function deps(wave) {
  return { ...wave.base, queuePort: { enqueue: (queue, ids) => wave.enqueue(queue, ids) } };
}
