// What waits for two reasons is decided about twice: an approval for the one that comes first says
// nothing of a movement that may have been made already. Neighbours: decisions.test.ts,
// send/reasonsInTurn.test.ts.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HoldReason } from '../../src/core/instructions/holdReasons.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { holdAgain } from '../../src/send/batches/batchesStore.js';
import { batchFacts } from '../../src/send/batches/batchFactsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import {
  APPROVE,
  at,
  decide,
  given,
  inThePast,
  newAccount,
  nextRun,
  REFUND,
} from '../support/deciding.js';
import type { OrderText } from '../support/orders.js';
import { instructionTexts } from '../support/planning.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());
beforeEach(() => newAccount(fresh.db));

const DID_NOT: Decision = {
  kind: 'resolve',
  finding: 'not_happened',
  reason: 'not in the portal',
  reference: 'case 77',
};
const NEWEST = { newest: true };

/** What the claim of the newest one finds: its number, and why it may have been made already. */
async function claimed(): Promise<[bigint, string | null]> {
  const { rows } = await at.db.query<{ batch: bigint }>(
    `select max(batch_id) as batch from tieout.instructions
     where account_id = $1 and state = 'queued'`,
    [at.accountId],
  );
  const [fact] = await batchFacts(at.db, rows[0]?.batch ?? 0n, 10_000_000);
  return [fact?.instructionId ?? 0n, fact?.doubled ?? null];
}

const newest = async () => (await instructionTexts(at.db, at.accountId)).at(-1);

test('approved in sight of a dispute alone, what may have been paid already waits for that', async () => {
  await given({ ...REFUND, did: ['refund T1 R9 3.00 unknown'] });
  expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
  await at.db.query(
    `insert into ledger.disputes (account_id, dispute_id, order_no, currency, amount, stage, at)
     values ($1, 'D1', 'O1', 'EUR', 5, 'opened', now())`,
    [at.accountId],
  );
  await nextRun([REFUND]);
  expect(await newest()).toBe('O1 refund R1 4.00 held: disputed');
  expect((await sheet())?.thenHeldFor).toBe('twin_request');
  expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
  const [id, doubled] = await claimed();
  expect(doubled).toBe('twin_request');
  await holdAgain(at.db, new Map([[id, 'twin_request']]));
  // Who found the other one not made is no second person for this one.
  expect(await decide(APPROVE, 'Anna', NEWEST)).toEqual(['refused asked_by_same_person']);
  expect((await verdictOf('bob'))[0]).toBe('done queued');
  expect(await claimed()).toEqual([id, null]);
  expect((await sheet())?.thenHeldFor).toBeNull();
});

/** Somebody refunded something of the order by hand, for another matter. */
const byHand = () =>
  at.db.query(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
       body_sha256, entries, outcome, ended_at, looks_before)
     values ($1, 'refund', 'dora', true, 'h', '', '[{"order_no": "O1", "refund_amount": "2.00",
       "currency": "EUR"}]', 'accepted', now(), tieout.looks_drawn())`,
    [at.accountId],
  );
/** R9 asks for as much as R1, is younger, and has been sent before. */
const SENT_BEFORE = { ...REFUND, refunds: ['R1 4.00 age=3d', 'R9 4.00 age=2d'] };

describe.each([false, true])('with a plan before each claim: %s', (isPlanned) => {
  const claim = async (text: OrderText): Promise<string | null> => {
    if (isPlanned) await nextRun([text]);
    const held = (await newest())?.split('held: ')[1];
    if (held !== undefined) return held;
    await cutBatches(at.db, [at.accountId], new Date());
    const [id, doubled] = await claimed();
    if (doubled !== null) await holdAgain(at.db, new Map([[id, doubled as HoldReason]]));
    return doubled;
  };

  test('a call by hand hides no refund that was refused', async () => {
    await byHand();
    await given({ ...REFUND, did: ['refund T1 R9 4.00 rejected'] });
    await nextRun([REFUND]);
    expect(await newest()).toBe('O1 refund R1 4.00 held: by_hand');
    expect((await sheet())?.thenHeldFor).toBe('twin_request');
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(REFUND)).toBe('twin_request');
    expect((await sheet())?.thenHeldFor).toBeNull();
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(REFUND)).toBeNull();
  });

  test('nor who found that one was not made', async () => {
    await byHand();
    await given({ ...SENT_BEFORE, did: ['refund T1 R9 4.00 unknown'] });
    expect(await decide(DID_NOT, 'anna')).toEqual(['done rejected']);
    await nextRun([SENT_BEFORE]);
    expect(await newest()).toBe('O1 refund R1 4.00 held: by_hand');
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(SENT_BEFORE)).toBe('twin_request');
    expect(await decide(APPROVE, ' anna', NEWEST)).toEqual(['refused asked_by_same_person']);
    expect(await decide(APPROVE, 'bob', NEWEST)).toEqual(['done queued']);
    expect(await claim(SENT_BEFORE)).toBeNull();
  });

  test('what the plan alone can know is asked in one turn with what the claim finds', async () => {
    // One transaction of two orders, each of which asks for a refund in this night.
    const shared = { ...REFUND, gateway: ['*T1 captured 10.00'] };
    await byHand();
    await nextRun([shared, shared]);
    const asked: (string | null)[] = [];
    const waits = async () => {
      const { rows } = await at.db.query<{ hold_reason: string | null }>(
        `select hold_reason from tieout.instructions where account_id = $1 and order_no = 'O1'`,
        [at.accountId],
      );
      return rows[0]?.hold_reason ?? null;
    };
    for (let reason = await waits(); reason && asked.length < 6; reason = await waits()) {
      asked.push(reason);
      expect(await decide(APPROVE, 'anna')).toEqual(['done queued']);
      if (isPlanned) await nextRun([shared, shared]);
      await cutBatches(at.db, [at.accountId], new Date());
      if ((await waits()) !== null) continue;
      const [id, doubled] = await claimed();
      if (doubled !== null) await holdAgain(at.db, new Map([[id, doubled as HoldReason]]));
    }
    expect(asked).toEqual(['shared_refund', 'by_hand']);
  });

  test('what was approved for a reason is asked about it again once that lapses', async () => {
    await byHand();
    await given({ ...REFUND, did: ['refund T1 R9 4.00 rejected'] });
    await nextRun([REFUND]);
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(REFUND)).toBe('twin_request');
    await inThePast(`update tieout.decisions set expires_at = now() - interval '1 second'`);
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(REFUND)).toBe('by_hand');
    expect(await decide(APPROVE, 'anna', NEWEST)).toEqual(['done queued']);
    expect(await claim(REFUND)).toBeNull();
  });
});

async function sheet() {
  const { rows } = await at.db.query<{ id: bigint }>(
    'select max(instruction_id) as id from tieout.instructions where account_id = $1',
    [at.accountId],
  );
  return sheetOf({ db: at.db, refundReasonTag: true }, rows[0]?.id ?? 0n);
}

/** With the digest that the sheet shows: the dispute is still open. */
async function verdictOf(name: string): Promise<string[]> {
  const { rows } = await at.db.query<{ id: bigint; sha256: string }>(
    `select instruction_id as id, tieout.shown_sha256(i, tieout.seen_of(i)) as sha256
     from tieout.instructions i where account_id = $1 order by instruction_id desc limit 1`,
    [at.accountId],
  );
  const seen = new Map(rows.map(({ id, sha256 }) => [id, sha256]));
  return decide(APPROVE, name, { ...NEWEST, seen });
}
