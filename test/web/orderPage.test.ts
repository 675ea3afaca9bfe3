// The page of an order has all that `tieout order` prints of it: also what a person called by hand,
// what was seen changed in the ledger, and what each decision was bound to.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const CARD = '4111111111111111';
const HIDDEN = '411111******1111';
const SEEN = 'ab'.repeat(32);

let place: ConsoleHouse;
let viewer: Visitor;
let ours: { id: string; order: string };

beforeAll(async () => {
  place = await openConsole();
  viewer = await place.withRole('viewer', 'A1001');
  const { rows } = await place.app.db.query<typeof ours>(
    `select instruction_id::text as id, order_no as order from tieout.instructions
     where account_id = 'A1001' and state = 'held' limit 1`,
  );
  if (rows[0] === undefined) throw new Error('nothing waits for approval');
  [ours] = rows as [typeof ours];
  await place.app.db.query(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim,
       reason, reference, seen, seen_sha256, row_before)
     values ($1, 'A1001', 'reject', 'kim', true, 'seen in the portal', 'TICKET-7', '{}', $2, '{}')`,
    [ours.id, SEEN],
  );
  await calledByHand('refund', 'the portal says so', {
    ...{ order_no: ours.order, transaction_id: 'T-HAND', currency: 'EUR', amount: '99.00' },
    refund_amount: '12.50',
  });
  await calledByHand('capture', null, {
    ...{ order_no: 'ONLY-A-CALL', transaction_id: 'T-ONLY', currency: 'JPY', amount: '2300' },
  });
  await calledByHand('payout', null, {
    ...{ request_id: 'paid-once', payment_amount: '7', payment_currency: 'EUR' },
  });
  await changed(
    ours.order,
    { expected: 'captured', amount: '10.00', currency: 'EUR' },
    { expected: 'captured', amount: '1012.00', currency: 'EUR', reviewDecision: `card ${CARD}` },
  );
}, 180_000);
afterAll(() => place.end());

async function calledByHand(
  operation: string,
  reason: string | null,
  entry: Record<string, string>,
): Promise<void> {
  await place.app.db.query(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
       body_sha256, entries, reason, outcome, ended_at)
     values ('A1001', $1, 'kim ${CARD}', true, 'a', '\\x00', jsonb_build_array($2::jsonb),
       $3::text, case when $3::text is null then null else 'accepted' end,
       case when $3::text is null then null else now() end)`,
    [operation, JSON.stringify(entry), reason],
  );
}

async function changed(order: string, before: object, after: object | null): Promise<void> {
  await place.app.db.query(
    `insert into tieout.ledger_changes (run_id, account_id, order_no, kind, before, after, noted_at)
     select max(run_id), 'A1001', $1, case when $2::jsonb is null then 'left' else 'changed' end,
       $3::jsonb, $2::jsonb, '2026-11-20T02:16:00Z' from tieout.runs
     on conflict (account_id, order_no, run_id) do update set kind = excluded.kind,
       after = excluded.after`,
    [order, after === null ? null : JSON.stringify(after), JSON.stringify(before)],
  );
}

async function pageOf(order: string, who = viewer): Promise<string> {
  const { statusCode, body } = await who.get(`/orders/A1001/${order}`);
  expect([order, statusCode]).toEqual([order, 200]);
  return body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}

const printed = async (order: string): Promise<string> =>
  (await tieoutHere(['order', 'A1001', order], { cwd: place.house.folder })).stdout;

it('names what a person called by hand, with its end', async () => {
  const page = await pageOf(ours.order);
  expect(page).toMatch(
    new RegExp(
      'Called by hand .* \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d refund 12\\.50 EUR T-HAND ' +
        `kim ${HIDDEN.replaceAll('*', '\\*')} \\(as said on the command line\\) ` +
        'accepted \\(the portal says so\\)',
    ),
  );
  expect(await printed(ours.order)).toMatch(/refund +12\.50 EUR +by kim .* accepted \(the portal/);
});

it('is a page of the call where nothing else knows the order', async () => {
  const page = await pageOf('ONLY-A-CALL');
  expect(page).toMatch(/capture 2,300 JPY T-ONLY kim .* its end is not known/);
});

it('says of a payout what was sent, in whatever unit that is', async () => {
  expect(await pageOf('paid-once')).toContain('payout 7 EUR as written');
  expect(await printed('paid-once')).toContain('7 EUR as written');
});

it('names what was seen changed in the ledger, and hides a card there', async () => {
  const page = await pageOf(ours.order);
  expect(page).toContain(
    'Seen changed in the ledger 2026-11-20 02:16 amount 10.00 EUR → 1,012.00 EUR, ' +
      `review decision none → card ${HIDDEN}`,
  );
  const text = await printed(ours.order);
  expect(text).toMatch(/seen changed: amount 10\.00 EUR → 1,012\.00 EUR, review decision none →/);
  expect(text).not.toContain(CARD);
});

it('says of an order that left the ledger that it did', async () => {
  const { rows } = await place.app.db.query<{ order: string }>(
    `select order_no as order from ledger.orders where account_id = 'A1001' and order_no <> $1
     limit 1`,
    [ours.order],
  );
  const order = rows[0]?.order ?? '';
  await changed(order, { expected: 'captured' }, null);
  expect(await pageOf(order)).toContain('2026-11-20 02:16 left the ledger');
});

it('says of a decision who made it, why, by what proof, and over what', async () => {
  expect(await pageOf(ours.order)).toMatch(
    new RegExp(
      'reject by kim \\(as said on the command line\\) at ' +
        `\\S+ \\S+: seen in the portal; reference TICKET-7\\. Seen \\( ${SEEN.slice(0, 12)} \\)`,
    ),
  );
});

it('shows nothing of it to who does not see the account', async () => {
  const other = await place.withRole('viewer', 'A1002');
  for (const order of [ours.order, 'ONLY-A-CALL', 'paid-once']) {
    expect((await other.get(`/orders/A1001/${order}`)).statusCode).toBe(404);
  }
});
