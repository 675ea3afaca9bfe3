// What a plain job with retries would do under the same schedules: the same orders, the same
// gateway, the same troubles and deaths, but a queue that tries again until an answer says it is
// done. It is here so that the zeros of the other column mean something.

import { layOut } from '../layout.mjs';
import { randomOf } from '../random.mjs';
import { openGateway } from './gateway.mjs';
import { happen, TROUBLES } from './troubles.mjs';

const TRIES_MAX = 3;
const TROUBLE_CHANCE = 0.3;
/** Of dying between the answer and the note that the job is done. */
const DEATH_CHANCE = 0.06;
const STALL_CHANCE = 0.04;
const OPERATION_OF = {
  review: 'review',
  rejection: 'review',
  cancel: 'cancel',
  capture: 'capture',
};

/** Doubles, losses and effects of so many schedules. */
export function runNaively({ program, seed, first, count, firstNight }) {
  const profile = program.profile.sandboxProfile();
  const { responseSignatureOf } = program.sign;
  const found = { effects: 0, doubles: 0, losses: 0, difference: 0 };
  for (let number = first; number < first + count; number += 1) {
    const layout = layOut(seed, number, firstNight);
    const random = randomOf(seed, number, 3);
    const severity = random.pick([0.5, 1, 1, 2]);
    const isPermissive = random.chance(0.6);
    const gateway = openGateway({ now: () => firstNight, profile, responseSignatureOf });
    gateway.add(layout, { isPermissive });
    const late = [];
    for (const job of jobsOf(layout)) runJob({ layout, gateway, random, severity, late }, job);
    for (const work of late) work();
    addUp(found, layout, gateway.journal);
  }
  return found;
}

function jobsOf({ orders }) {
  return orders.flatMap((order) => {
    const operation = OPERATION_OF[order.kind] ?? 'refund';
    if (operation === 'refund')
      return order.refunds.map((refund) => ({ operation, order, refund }));
    return [{ operation, order, refund: null }];
  });
}

function runJob({ layout, gateway, random, severity, late }, { operation, order, refund }) {
  const entry = {
    transaction_id: order.transaction_id,
    order_no: order.order_no,
    currency: order.currency,
    amount: order.amount,
    ...(refund === null ? {} : { refund_amount: refund.refund_amount, refund_reason: '' }),
    ...(operation === 'review' ? { review_flag: order.expected === 'captured' ? '1' : '2' } : {}),
  };
  const array = `${operation}_orders`;
  const message = { merchant_id: 'M1', account_id: layout.accountId, [array]: [entry] };
  const operate = (part) => gateway.operate(operation, message, random.uuid(), part);
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const isTroubled = random.chance(TROUBLE_CHANCE * severity);
    const trouble = isTroubled ? random.weighted(TROUBLES) : 'none';
    const later = (_ms, work) => late.push(work);
    const answer = happen(trouble, { operate, array, later, random });
    if (random.chance(STALL_CHANCE * severity)) operate();
    if (isDone(answer, array, operation) && !random.chance(DEATH_CHANCE * severity)) return;
  }
}

function isDone(answer, array, operation) {
  if (answer.kind !== 'answered' || answer.status !== 200) return false;
  try {
    const [entry] = JSON.parse(answer.body.toString('utf8'))[array];
    return entry[`${operation}_status`] === '1';
  } catch {
    return false;
  }
}

function addUp(found, layout, journal) {
  const wanted = new Map();
  const keyOf = ({ operation, transaction_id, amount, refund_amount }) =>
    `${operation} ${transaction_id} ${refund_amount ?? amount}`;
  const bump = (key, by) => wanted.set(key, (wanted.get(key) ?? 0) + by);
  for (const { operation, order, refund } of jobsOf(layout)) {
    bump(keyOf({ ...order, operation, refund_amount: refund?.refund_amount }), 1);
  }
  for (const effect of journal) bump(keyOf(effect), -1);
  found.effects += journal.length;
  for (const [key, left] of wanted) {
    const cents = Math.round(Number(key.split(' ')[2]) * 100);
    if (left < 0) found.doubles -= left;
    if (left > 0) found.losses += left;
    if (!key.startsWith('review')) found.difference += Math.abs(left) * cents;
  }
}
