// Books in which everything is right: one capture and one full refund that were confirmed, one
// partial refund that waits for a person, one cancel that somebody did by hand. Tests of the
// auditor spoil a copy of them, one thing at a time.

import { createHash } from 'node:crypto';

export type Row = Record<string, unknown>;
/** Tables by name; what a database forgot, and what was asked for when, stand beside them. */
export type Books = Record<string, Row[]>;

const ACCOUNT = 'A1';
const MIDNIGHT = Date.parse('2026-01-02T00:00:00Z') / 1_000;

function order(no: string, expected: string, state: string, refunded = '0.00') {
  return {
    order: { order_no: no, currency: 'EUR', amount: '10.00', expected, transaction_id: `T${no}` },
    transaction: {
      ...{ order_no: no, transaction_id: `T${no}`, currency: 'EUR', amount: '10.00' },
      ...{ state, refunded },
    },
  };
}

const OF_ORDERS = [
  order('1', 'captured', 'captured'),
  order('2', 'captured', 'refunded', '10.00'),
  order('3', 'captured', 'partially_refunded', '4.00'),
  order('4', 'cancelled', 'cancelled'),
];

function instruction(id: string, operation: string, state: string, refund: string | null = null) {
  return {
    id,
    run_id: '1',
    account_id: ACCOUNT,
    order_no: id,
    operation,
    transaction_id: `T${id}`,
    currency: 'EUR',
    amount: '10.00',
    refund_id: refund === null ? null : `R${id}`,
    refund_amount: refund,
    state,
    is_disputed: false,
    settled_run_id: ['confirmed', 'withdrawn'].includes(state) ? '1' : null,
  };
}

function effect(id: string, operation: string, request: string, refund?: string) {
  return {
    at: '2026-01-02T00:00:01.000Z',
    operation,
    account_id: ACCOUNT,
    order_no: id,
    transaction_id: `T${id}`,
    currency: 'EUR',
    amount: '10.00',
    ...(refund === undefined ? {} : { refund_amount: refund }),
    request,
  };
}

function attempt(id: string, outcome = 'answered') {
  return {
    attempt_id: `attempt${id}`,
    batch_id: id,
    account_id: ACCOUNT,
    entries: [id],
    body_sha256: `body${id}`,
    claimed_at: '2026-01-02T00:00:00.000Z',
    claimed: MIDNIGHT,
    outcome,
  };
}

/** `planned` first, then whatever came after, in order. */
function trail(id: string, states: readonly string[]): Row[] {
  return states.map((to, index) => ({
    ...{ seq: Number(id) * 10 + index, id, from: states[index - 1], to },
    moment: MIDNIGHT - 10 + index * 5,
  }));
}

const BODY = Buffer.from('{}');
const SUMMARY = {
  accounts: [
    {
      accountId: ACCOUNT,
      state: 'broken',
      instructions: { refund: { unknown: 1 } },
      orders: {
        ...{ ledger: 4, strangers: 0, matched: 3, explained: 0, due: 0, awaited: 0, broken: 1 },
        notCompared: 0,
      },
      tie: { openBefore: 0, new: 1, reopened: 0, waived: 0, resolved: 0, openAfter: 1 },
      totals: [{ currency: 'EUR', captured: '10.00', cancelled: '0.00', refunded: '10.00' }],
    },
  ],
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Two links of one chain, each sealing two facts. */
function soundChain(): { links: Row[]; heads: Row[]; sealed: Row[] } {
  const links: Row[] = [];
  const sealed: Row[] = [];
  let previous = '';
  for (const [index, what] of ['attempt', 'instruction'].entries()) {
    const link_no = `${index + 1}`;
    const lines = [1, 2].map((pos) => ({ pos: `${pos}`, line: `(${what},${pos})` }));
    const digest = sha256(lines.map(({ line }) => `${line}\n`).join(''));
    const head = { account_id: ACCOUNT, link_no, link_id: `7${link_no}`, what };
    const said = [ACCOUNT, link_no, '2026-01-01', what, '2', digest, previous];
    const sum = sha256(`${said.join('\n')}\n`);
    const digests = { facts: '2', facts_sha256: digest, previous_sha256: previous, sha256: sum };
    links.push({ ...head, day: '2026-01-01', ...digests });
    sealed.push(...lines.map((line) => ({ ...head, ...line })));
    previous = sum;
  }
  return { links, heads: [{ account_id: ACCOUNT, link_no: '2', sha256: previous }], sealed };
}

function movement(no: string, kind: string) {
  return {
    ...{ account_id: ACCOUNT, order_no: no, transaction_id: `T${no}`, currency: 'EUR' },
    ...{ kind, amount: '10.00', made: 'here' },
  };
}

export function soundBooks(): Books {
  const sent = ['planned', 'queued', 'sending'];
  return structuredClone({
    ...soundChain(),
    orders: OF_ORDERS.map((one) => ({ account_id: ACCOUNT, ...one.order })),
    transactions: OF_ORDERS.map((one) => ({ account_id: ACCOUNT, ...one.transaction })),
    movements: [movement('1', 'captured'), movement('2', 'captured'), movement('2', 'refunded')],
    bookLooks: OF_ORDERS.map(({ order: { order_no } }) => {
      return { account_id: ACCOUNT, order_no, seen_at: '2026-01-02T00:00:05.000Z' };
    }),
    requests: [
      { account_id: ACCOUNT, refund_id: 'R2', order_no: '2', refund_amount: '10.00' },
      { account_id: ACCOUNT, refund_id: 'R3', order_no: '3', refund_amount: '4.00' },
    ],
    instructions: [
      instruction('1', 'capture', 'confirmed'),
      instruction('2', 'refund', 'confirmed', '10.00'),
      instruction('3', 'refund', 'unknown', '4.00'),
      instruction('4', 'cancel', 'withdrawn'),
    ],
    events: [
      ...trail('1', [...sent, 'accepted', 'confirmed']),
      ...trail('2', [...sent, 'accepted', 'confirmed']),
      ...trail('3', [...sent, 'unknown']),
      ...trail('4', ['planned', 'withdrawn']),
    ],
    attempts: [attempt('1'), attempt('2'), attempt('3', 'unanswered')],
    approvals: [],
    answers: [
      {
        attempt_id: 'attempt1',
        body: BODY,
        body_sha256: createHash('sha256').update(BODY).digest('hex'),
      },
    ],
    breaks: [{ account_id: ACCOUNT, order_no: '3', kind: 'outcome_unknown', state: 'open' }],
    runs: [{ run_id: '1', business_date: '2026-01-01', state: 'broken', summary: SUMMARY }],
    ends: [{ run_id: '1', state: 'broken', summary: SUMMARY, moment: MIDNIGHT + 60 }],
    calls: [],
    effects: [
      effect('1', 'capture', 'x1.body1'),
      effect('2', 'refund', 'x2.body2', '10.00'),
      effect('3', 'refund', 'x3.body3', '4.00'),
      effect('4', 'cancel', 'portal.x4'),
    ],
  });
}

export { ACCOUNT, attempt, effect, instruction, MIDNIGHT, trail };
