// People and instructions on a real database: approve, reject, resolve, replan, with a verdict a row;
// what an approval is bound to. Neighbour: decisionGuards.test.ts, what the database refuses.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findBreaks } from '../../src/breaks/breaksStore.js';
import { labelStates } from '../../src/core/text/labels.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { sentenceOf } from '../../src/web/pages/breaks/breaks.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import {
  APPROVE,
  addRequest,
  at,
  CAPTURE,
  columns,
  decide,
  given,
  idOf,
  inThePast,
  newAccount,
  nextRun,
  openBreaks,
  plan,
  REFUND,
  requestedBy,
  states,
  verdicts,
} from '../support/deciding.js';
import { orderOf } from '../support/orders.js';
import { instructionTexts, policies, snapshotAndPlan } from '../support/planning.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());
beforeEach(() => newAccount(fresh.db));

const NO: Decision = { kind: 'reject', reason: 'the customer keeps it' };
const REPLAN: Decision = { kind: 'replan', reason: null };
const HAPPENED: Decision = {
  kind: 'resolve',
  finding: 'happened',
  reason: 'seen in the portal',
  reference: 'T1-01',
};
const DID_NOT: Decision = { ...HAPPENED, finding: 'not_happened', reference: 'case 77' };

describe('an approval', () => {
  test('puts what was held into batches at once, enqueues them, and says who and what they saw', async () => {
    await plan([CAPTURE, REFUND]);
    expect(await decide(APPROVE, 'anna', { all: true })).toEqual(['done queued', 'done queued']);
    expect(await states()).toEqual(['O1 capture queued', 'O2 refund queued']);
    expect(at.enqueued).toEqual(['capture', 'refund']);
    const id = await idOf('O2');
    const sheet = await sheetOf({ db: at.db, refundReasonTag: true }, id);
    expect(sheet?.events.map((event) => `${event.to} ${event.by}`)).toEqual([
      'held tieout',
      'planned anna',
      'queued tieout',
    ]);
    expect(sheet?.decisions).toMatchObject([
      {
        decision: 'approve',
        by: 'anna',
        isClaim: true,
        seenSha256: sheet?.seenSha256,
        seen: {
          ledger: { expected: 'captured', amount: '10.00', currency: 'EUR' },
          refundRequests: [{ refundId: 'O2/R1', amount: '4.00' }],
          gateway: [{ state: 'captured', amount: '10.00', fraudRejected: false }],
        },
      },
    ]);
    expect(sheet?.approval).toMatchObject({ by: 'anna', lapse: null });
  });

  test('is refused to who asked for the refund, however the name is written', async () => {
    await plan([REFUND]);
    await requestedBy('Anna  Berg');
    expect(await decide(APPROVE, ' anna berg')).toEqual(['refused asked_by_same_person']);
    expect(await decide(APPROVE, 'bob')).toEqual(['done queued']);
  });

  test('of what somebody else changed since it was seen is refused', async () => {
    await plan([REFUND]);
    const seen =
      (await sheetOf({ db: at.db, refundReasonTag: true }, await idOf('O1')))?.seenSha256 ?? '';
    await addRequest();
    const id = await idOf('O1');
    const late = { seen: new Map([[id, seen.slice(0, 12)]]) };
    expect(await decide(APPROVE, 'anna', late)).toEqual(['refused changed_since_seen']);
  });

  test('of what waits for another reason since it was seen is refused, and so is a refusal', async () => {
    await plan([REFUND]);
    const id = await idOf('O1');
    const sheet = () => sheetOf({ db: at.db, refundReasonTag: true }, id);
    const seen = { seen: new Map([[id, (await sheet())?.seenSha256 ?? '']]) };
    const waitsFor = (reason: string, freedBy: string | null) =>
      at.db.query(
        `update tieout.instructions set hold_reason = $2, freed_by = $3, changed_by = 'tieout'
         where account_id = $1`,
        [at.accountId, reason, freedBy],
      );
    await waitsFor('twin_request', null);
    expect(await decide(APPROVE, 'anna', seen)).toEqual(['refused changed_since_seen']);
    expect(await decide(NO, 'anna', seen)).toEqual(['refused changed_since_seen']);
    // Weighed once more by the next night, for the same reason: what was seen counts.
    await waitsFor('approval', null);
    expect(await decide(APPROVE, 'anna', { ...seen, check: true })).toEqual(['done queued']);
    await waitsFor('newly_freed', 'accounts[].merchantId');
    expect(await decide(APPROVE, 'anna', seen)).toEqual(['refused changed_since_seen']);
    const now = { seen: new Map([[id, (await sheet())?.seenSha256 ?? '']]) };
    expect(await decide(APPROVE, 'anna', now)).toEqual(['done queued']);
    // The reason ends with the approval, which holds.
    expect((await sheet())?.approval).toMatchObject({ by: 'anna', lapse: null });
  });

  test.each(['observed', 'no_history'])('frees nothing of an account that is %s', async (block) => {
    await at.db.query('update tieout.run_accounts set send_block = $2 where run_id = $1', [
      at.runId,
      block,
    ]);
    await plan([CAPTURE]);
    expect(await decide(APPROVE, 'anna')).toEqual(['refused not_approvable']);
  });

  test('holds while the next run weighs it again', async () => {
    await plan([CAPTURE]);
    await decide(APPROVE, 'anna');
    await nextRun([CAPTURE]);
    expect(await instructionTexts(at.db, at.accountId)).toEqual(['O1 capture 10.00 planned']);
  });

  test('is void as soon as anything it was for has changed', async () => {
    await plan([REFUND]);
    await decide(APPROVE, 'anna');
    await nextRun([{ ...REFUND, refunds: ['R1 4.00', 'R2 1.00 age=25h'] }]);
    expect(await instructionTexts(at.db, at.accountId)).toEqual([
      'O1 refund R1 4.00 held: approval_void',
    ]);
    expect(await decide(APPROVE, 'anna')).toEqual(['done queued']);
  });

  test('expires', async () => {
    await plan([CAPTURE]);
    await decide(APPROVE, 'anna');
    await inThePast(`update tieout.decisions set expires_at = now() - interval '1 second'`);
    await nextRun([CAPTURE]);
    expect(await instructionTexts(at.db, at.accountId)).toEqual([
      'O1 capture 10.00 held: approval_expired',
    ]);
  });

  test('that lapsed lets no claim pass, not even in the last moment', async () => {
    await plan([REFUND]);
    await decide(APPROVE, 'anna');
    await addRequest();
    const claim = at.db.query(
      `update tieout.instructions set state = 'sending' where account_id = $1`,
      [at.accountId],
    );
    await expect(claim).rejects.toThrow(/approval holds no more/);
  });

  test('a policy that lets it go needs none', async () => {
    await plan([CAPTURE]);
    await snapshotAndPlan(
      at.db,
      { runId: at.runId, accountId: at.accountId, policies: policies('auto') },
      [orderOf('O1', CAPTURE)],
    );
    expect(await instructionTexts(at.db, at.accountId)).toEqual(['O1 capture 10.00 planned']);
  });
});

/** Of the open breaks, as the console says them. */
async function sentences(): Promise<string[]> {
  const filter = { accountIds: [at.accountId], states: ['open' as const] };
  return (await findBreaks(at.db, filter, { limit: 9, offset: 0 })).map(sentenceOf);
}

describe('a person’s no', () => {
  test('withdraws, and the order is a difference until somebody wants it planned again', async () => {
    await plan([REFUND]);
    expect(await decide(NO, 'anna')).toEqual(['done withdrawn']);
    await nextRun([REFUND], { breaks: true });
    expect(await instructionTexts(at.db, at.accountId)).toEqual([
      'O1 refund R1 4.00 withdrawn: the customer keeps it',
    ]);
    expect(await openBreaks()).toEqual(['refund_mismatch']);
    const words =
      'the ledger asks to refund 4.00 EUR, and anna refused it; the gateway shows captured: both ' +
      'differ until the request leaves the ledger or is planned again';
    expect(await sentences()).toEqual([words]);
    // The page of the order says it as the break's own page does.
    const history = await orderHistory(at.db, at.accountId, 'O1');
    expect(history?.breaks.map(({ sentence }) => labelStates(String(sentence)))).toEqual([words]);
    expect(await decide(REPLAN, 'bob')).toEqual(['done withdrawn']);
    expect(await sentences()).not.toEqual([words]);
    expect(await decide(REPLAN, 'bob')).toEqual(['refused replanned_already']);
    await nextRun([REFUND], { breaks: true });
    expect((await instructionTexts(at.db, at.accountId)).at(1)).toBe(
      'O1 refund R1 4.00 held: approval',
    );
    expect(await openBreaks()).toEqual([]);
    // Who had it planned again has asked for it.
    expect(await decide(APPROVE, 'Bob', { newest: true })).toEqual([
      'refused asked_by_same_person',
    ]);
    expect(await decide(APPROVE, 'anna', { newest: true })).toEqual(['done queued']);
    expect(await decide(REPLAN, 'carl')).toEqual(['refused replanned_already']);
  });

  test('to a capture is named by its break, until the order is another one', async () => {
    await plan([CAPTURE]);
    expect(await decide(NO, 'anna')).toEqual(['done withdrawn']);
    await nextRun([CAPTURE], { breaks: true });
    expect(await openBreaks()).toEqual(['state_mismatch']);
    expect(await sentences()).toEqual([
      'the ledger asks to capture 10.00 EUR, and anna refused it; the gateway shows authorised: ' +
        'both differ until the order changes in the ledger, or the capture is planned again',
    ]);
    await at.db.query(
      `update tieout.breaks set expected = expected || '{"state": "cancelled"}'
       where account_id = $1`,
      [at.accountId],
    );
    expect(await sentences()).toEqual([
      'the gateway shows authorised, the ledger expects cancelled',
    ]);
  });

  test('also to what waits in a batch; what is being sent is out of reach', async () => {
    await plan([CAPTURE]);
    await decide(APPROVE, 'anna');
    expect(await decide(NO, 'bob')).toEqual(['done withdrawn']);
    await given({ ...CAPTURE, did: ['capture T1 sending'] });
    expect(await decide(NO, 'bob', { newest: true })).toEqual(['refused wrong_state']);
  });
});

test('who found a refund not made is no second person for the one that may be it', async () => {
  await given({ ...REFUND, did: ['refund T1 R9 3.00 unknown'] });
  expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
  await nextRun([REFUND]);
  expect((await instructionTexts(at.db, at.accountId)).at(-1)).toBe(
    'O1 refund R1 4.00 held: twin_request',
  );
  expect(await decide(APPROVE, 'Anna', { newest: true })).toEqual(['refused asked_by_same_person']);
  expect(await decide(APPROVE, 'bob', { newest: true })).toEqual(['done queued']);
});

test('nor for the same request under another order', async () => {
  await given({ ledger: null, did: ['refund T1 *R7 4.00 unknown'] });
  expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
  await nextRun([{ ledger: null }, { ...REFUND, refunds: ['*R7 4.00'] }]);
  expect((await instructionTexts(at.db, at.accountId)).at(-1)).toBe(
    'O2 refund R7 4.00 held: twin_request',
  );
  expect(await decide(APPROVE, 'Anna', { newest: true })).toEqual(['refused asked_by_same_person']);
  expect(await decide(APPROVE, 'bob', { newest: true })).toEqual(['done queued']);
});

test('what was refused can be planned again although another amount was asked for since', async () => {
  const part = { ...CAPTURE, did: ['capture T1 withdrawn by=person'] };
  await given({ ...part, did: [...part.did, 'capture T1 withdrawn amount=9.00'] });
  expect(await decide(REPLAN, 'anna')).toEqual(['done withdrawn']);
  await nextRun([CAPTURE]);
  expect((await instructionTexts(at.db, at.accountId)).at(-1)).toBe(
    'O1 capture 10.00 held: approval',
  );
});

describe('what nobody knew', () => {
  test('it happened: confirmed with the reference, and the next run counts it', async () => {
    await given({ ...REFUND, did: ['refund T1 R1 4.00 unknown'] });
    expect(await decide(HAPPENED, 'anna')).toEqual(['done confirmed']);
    expect(await columns('state, gateway_reference, settled_run_id, changed_by')).toEqual([
      { state: 'confirmed', gateway_reference: 'T1-01', settled_run_id: null, changed_by: 'anna' },
    ]);
  });

  test('a refund that did not happen is planned again by a second person alone', async () => {
    await given({ ...REFUND, did: ['refund T1 R1 4.00 unknown'] });
    expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
    const [{ reason } = { reason: '' }] = (await columns('reason')) as { reason: string }[];
    expect(reason).toMatch(/^proven by anna not to have happened \(case 77\): /);
    await nextRun([REFUND], { breaks: true });
    expect(await openBreaks()).toEqual(['instruction_rejected']);
    expect(await decide(REPLAN, 'ANNA ')).toEqual(['refused second_person_needed']);
    expect(await decide(REPLAN, 'bob')).toEqual(['done rejected']);
    await nextRun([REFUND]);
    expect((await instructionTexts(at.db, at.accountId)).at(1)).toBe(
      'O1 refund R1 4.00 held: approval',
    );
  });

  test('a capture that did not happen needs no second person', async () => {
    await given({ ...CAPTURE, did: ['capture T1 unknown'] });
    expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
    expect(await decide(REPLAN, 'anna')).toEqual(['done rejected']);
  });

  test.each([
    ['held', 'wrong_state'],
    ['rejected', 'wrong_state'],
    ['confirmed', 'wrong_state'],
    // The gateway said that it is done: the next snapshot confirms it, or makes it unknown.
    ['accepted', 'answered'],
  ])('nothing that is %s', async (state, refusal) => {
    await given({ ...CAPTURE, did: [`capture T1 ${state}`] });
    expect(await decide(HAPPENED, 'anna')).toEqual([`refused ${refusal}`]);
  });

  test('the sheet of a partial refund says what to look for and what to press', async () => {
    await given(
      { ...REFUND, did: ['refund T1 R0 1.00 confirmed', 'refund T1 R1 4.00 unknown'] },
      `update tieout.instructions set gateway_reference = transaction_id || '-01'
       where state = 'confirmed'`,
    );
    const id = await idOf('O1', 'unknown');
    const sheet = await sheetOf({ db: at.db, refundReasonTag: true }, id);
    expect(sheet).toMatchObject({
      money: '4.00 EUR',
      tag: `[tieout ${id}]`,
      references: [`${at.accountId}.O1/T1-01`],
      nextReference: `${at.accountId}.O1/T1-02`,
      commands: [
        `tieout instructions resolve ${id} happened --reason "..." --reference "${at.accountId}.O1/T1-02"`,
        `tieout instructions resolve ${id} not-happened --reason "..." --reference "..."`,
      ],
    });
  });
});

describe('many at once', () => {
  test('each has its own verdict, and one that refuses keeps no other', async () => {
    await plan([REFUND, CAPTURE]);
    await requestedBy('anna');
    const ids = [await idOf('O1'), 10n ** 15n, await idOf('O2')];
    const rows = await verdicts({ ids, decision: APPROVE, who: { name: 'anna', isClaim: true } });
    expect(rows.map((row) => row.kind)).toEqual(['refused', 'not_found', 'done']);
    expect(await states()).toEqual(['O1 refund held', 'O2 capture queued']);
  });

  test('an account that is not theirs is not there', async () => {
    await plan([CAPTURE]);
    expect(await decide(APPROVE, 'anna', { accountIds: ['other'] })).toEqual(['not_found']);
  });

  test('a try changes nothing', async () => {
    await plan([CAPTURE]);
    expect(await decide(APPROVE, 'anna', { check: true })).toEqual(['done queued']);
    expect(await states()).toEqual(['O1 capture held']);
    expect(at.enqueued).toEqual([]);
  });

  test('a hundred approvals at the same moment make one', async () => {
    await plan([CAPTURE]);
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) => decide(APPROVE, `person ${index}`)),
    );
    expect(all.filter(([kind]) => kind === 'done queued')).toHaveLength(1);
    const { rows } = await at.db.query(
      'select count(*)::int as count from tieout.decisions where account_id = $1',
      [at.accountId],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });
});

test('an approval that did not see that another order was refunded so is asked for again', async () => {
  const order = { ...REFUND, gateway: ['*T1 captured 10.00'] };
  await plan([order]);
  expect(await decide(APPROVE, 'anna')).toEqual(['done queued']);
  await nextRun([order, order]);
  expect(await columns('order_no, hold_reason')).toEqual([
    { order_no: 'O1', hold_reason: 'shared_refund' },
    { order_no: 'O2', hold_reason: 'shared_refund' },
  ]);
  expect(await decide(APPROVE, 'anna')).toEqual(['done queued']);
  await nextRun([order, order]);
  expect(await states()).toEqual(['O1 refund planned', 'O2 refund held']);
});
