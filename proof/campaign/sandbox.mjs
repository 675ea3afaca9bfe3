// The gateway of a wave: the sandbox as a process of its own, whose journal is the truth. Fills it
// with the orders of the schedules by real payments, and tells it what shall go wrong.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MONEY = ['capture', 'cancel', 'refund', 'review'];
/** [probability, action] of each request that moves money. */
const LIES = [
  [0.012, 'entry_missing'],
  [0.01, 'entry_twice'],
  [0.01, 'entries_swapped'],
  [0.01, 'entry_foreign'],
  [0.01, 'entries_reordered'],
  [0.01, 'wrong_amount'],
  [0.01, 'wrong_currency'],
  [0.01, 'unknown_code'],
  [0.012, 'refused_with_effect'],
  [0.01, 'wrong_account'],
  [0.01, 'html'],
  [0.015, 'half'],
  [0.01, { kind: 'status', status: 502, when: 'before' }],
  [0.015, { kind: 'status', status: 502, when: 'after' }],
  [0.01, { kind: 'redirect', status: 307, when: 'after' }],
];
const CARDS = { in_review: '4000000000009235', other: '4111111111111111' };
const AT_ONCE = 4;
const TRIES = 4;

export async function openSandbox(root, folder, seed) {
  const words = ['sandbox', '--json', '--port', '0', '--orders', '1', '--seed', String(seed)];
  const program = join(root, 'bin', 'tieout.js');
  const child = spawn(process.execPath, [program, ...words, '--state', join(folder, 'gateway')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { baseUrl } = JSON.parse(line);
  const tell = async (method, path, value) => {
    const answer = await asked(`${baseUrl}${path}`, {
      method,
      // A connection of its own: one that was kept may be closed just then.
      headers: { 'content-type': 'application/json', connection: 'close' },
      ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    });
    if (!answer.ok && answer.status !== 409) throw new Error(`${path}: ${await answer.text()}`);
    return answer;
  };
  return {
    baseUrl,
    journal: join(folder, 'gateway', 'effects.ndjson'),
    lie: () => tell('POST', '/_sandbox/faults', rules()),
    tellTheTruth: () => tell('DELETE', '/_sandbox/faults'),
    byHand: (operation, order) =>
      tell('POST', `/_sandbox/portal/${operation}`, {
        account_id: order.account_id,
        order_no: order.order_no,
        transaction_id: order.transaction_id,
      }),
    tell,
    async close() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** What is asked here may be asked again: a second movement by hand is refused. */
async function asked(url, request) {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await fetch(url, request);
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}

function rules() {
  const lies = LIES.flatMap(([probability, action]) =>
    MONEY.map((operation) => ({ operation, probability, action })),
  );
  const down = { kind: 'status', status: 500, when: 'before' };
  return [...lies, { operation: 'retrievalTrans', probability: 0.02, action: down }];
}

/** Real payments for every order; their transaction ids go into the layouts. */
export async function payOrders(program, sandbox, layouts) {
  const accounts = layouts.map(({ merchantId, accountId, signingKey }) => ({
    ...{ merchantId, accountId, signingKey },
  }));
  await sandbox.tell('POST', '/_sandbox/users', { id: 'campaign', accounts });
  const profile = program.profile.sandboxProfile();
  const client = program.payments.createPaymentClient({ profile, baseUrl: sandbox.baseUrl });
  const turn = layouts.flatMap((layout) => layout.orders.map((order) => [layout, order]));
  const work = async () => {
    for (let next = turn.shift(); next !== undefined; next = turn.shift()) {
      await payOne(client, sandbox, ...next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await client.close();
}

async function payOne(client, sandbox, layout, order) {
  const outcome = await client.authorise(
    { ...layout, liveFrom: null },
    {
      order_no: order.order_no,
      currency: order.currency,
      amount: order.amount,
      card: CARDS[order.state] ?? CARDS.other,
      expiration_month: '12',
      expiration_year: '2030',
      security_code: '123',
    },
  );
  const { transactionId } = outcome.answer ?? {};
  if (!transactionId) throw new Error(`the payment of ${order.order_no}: ${outcome.kind}`);
  order.transaction_id = transactionId;
  if (order.state === 'captured') await sandbox.byHand('capture', order);
}
