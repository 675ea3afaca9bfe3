// What a decision keeps, and what the database refuses whatever program asks it: history, four eyes,
// approvals of something else.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOLD_REASONS } from '../../src/core/instructions/holdReasons.js';
import type { Decision } from '../../src/instructions/decisions.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import {
  APPROVE,
  at,
  CAPTURE,
  decide,
  given,
  newAccount,
  plan,
  REFUND,
  requestedBy,
  writeApproval,
  writeDecision,
} from '../support/deciding.js';

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

describe('what a decision keeps', () => {
  test('no card number; names and reasons that are some', async () => {
    await plan([CAPTURE]);
    await decide({ kind: 'reject', reason: 'paid with 4111 1111 1111 1111' }, 'anna');
    const { rows } = await at.db.query(
      'select reason from tieout.decisions where account_id = $1',
      [at.accountId],
    );
    expect(rows).toEqual([{ reason: 'paid with 4111 11** **** 1111' }]);
    await expect(decide({ kind: 'reject', reason: ' ' }, 'anna')).rejects.toThrow(/the reason/);
    await expect(decide(APPROVE, ' ')).rejects.toThrow(/the name/);
  });

  test.each(['update tieout.decisions set reason = null', 'delete from tieout.decisions'])(
    'what it is: %s is refused',
    async (statement) => {
      await plan([CAPTURE]);
      await decide(APPROVE, 'anna');
      await expect(
        at.db.query(`${statement} where account_id = $1`, [at.accountId]),
      ).rejects.toThrow(/history/);
    },
  );
});

describe('the database refuses, whoever asks', () => {
  test('an approval by who asked', async () => {
    await plan([REFUND]);
    await requestedBy('anna');
    await expect(writeApproval('ANNA')).rejects.toThrow(/asked for it/);
  });

  test('a queue for what nobody approved', async () => {
    await plan([CAPTURE]);
    const queued = at.db.query(
      `update tieout.instructions set state = 'queued', hold_reason = null,
         batch_id = (select max(batch_id) from tieout.batches) where account_id = $1`,
      [at.accountId],
    );
    await expect(queued).rejects.toThrow(/nobody approved/);
  });

  test('an approval of another instruction', async () => {
    await plan([CAPTURE, CAPTURE]);
    const { rows } = await writeApproval('bob');
    const borrowed = at.db.query(
      `update tieout.instructions set approval_id = $2 where account_id = $1
         and order_no = 'O2'`,
      [at.accountId, rows[0]?.decision_id],
    );
    await expect(borrowed).rejects.toThrow(/no approval of it/);
  });

  test('a replan by the one who disproved the refund', async () => {
    await given({ ...REFUND, did: ['refund T1 R1 4.00 unknown'] });
    await decide(DID_NOT, 'anna');
    await expect(writeDecision('replan', 'Anna')).rejects.toThrow(/second person/);
  });

  test('the approval of a hold that none helps against, by the list that core has', async () => {
    const { rows } = await at.db.query<{ text: string }>(
      `select prosrc as text from pg_proc where proname = 'guard_decision'`,
    );
    const list = /hold_reason not in \(([^)]*)\)/.exec(rows[0]?.text ?? '')?.[1] ?? '';
    const approvable = Object.entries(HOLD_REASONS).filter(([, { isApprovable }]) => isApprovable);
    expect([...list.matchAll(/'(\w+)'/g)].map(([, name]) => name).sort()).toEqual(
      approvable.map(([name]) => name).sort(),
    );
  });
});
