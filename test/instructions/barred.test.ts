// What bars a refused instruction from being asked about anew is one rule, whatever asks: a snapshot
// that contradicts the refusal, or an answer that came after a person had found that nothing
// happened. The same table for both, on a real PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answeredLateNotices } from '../../src/core/instructions/answeredLate.js';
import type { Database } from '../../src/database/db.js';
import { statement } from '../../src/database/statements.js';
import { settleBySnapshot } from '../../src/instructions/instructionsStore.js';
import { disputeByAnswers } from '../../src/instructions/lateAnswersStore.js';
import { answeredLate } from '../../src/total/anomaliesStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import type { Snapshot } from '../support/snapshotStore.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accounts = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

interface Case {
  name: string;
  /** The refused one first, then what else was done on its order. */
  did: readonly string[];
  /** Done on another order that has the same transaction. */
  elsewhere?: readonly string[];
  shown: string;
  isBarred: boolean;
}

const CASES: readonly Case[] = [
  { name: 'nothing else', did: ['capture T1 rejected'], shown: 'captured', isBarred: false },
  {
    name: 'one that is on its way on the order',
    did: ['capture T1 rejected', 'cancel T1 sending'],
    shown: 'captured',
    isBarred: true,
  },
  {
    name: 'one that nobody knows the end of',
    did: ['cancel T1 rejected', 'capture T1 unknown'],
    shown: 'cancelled',
    isBarred: true,
  },
  {
    name: 'the same, made good',
    did: ['capture T1 rejected', 'capture T1 confirmed'],
    shown: 'captured',
    isBarred: true,
  },
  {
    name: 'the same refund, made good',
    did: ['refund T1 R1 4.00 rejected', 'refund T1 R1 4.00 confirmed'],
    shown: 'partially_refunded',
    isBarred: true,
  },
  {
    name: 'another one that was taken back',
    did: ['cancel T1 rejected', 'capture T1 withdrawn'],
    shown: 'cancelled',
    isBarred: false,
  },
  {
    name: 'the same effect by another order',
    did: ['capture T1 rejected'],
    elsewhere: ['capture T1 confirmed'],
    shown: 'captured',
    isBarred: true,
  },
  {
    name: 'another effect by another order',
    did: ['cancel T1 rejected'],
    elsewhere: ['capture T1 confirmed'],
    shown: 'cancelled',
    isBarred: false,
  },
  {
    name: 'another one that waits for a person',
    did: ['cancel T1 rejected', 'capture T1 held'],
    shown: 'cancelled',
    isBarred: true,
  },
];

test.each(CASES)('$name', async ({ did, elsewhere = [], shown, isBarred }) => {
  const looked = await stored(did, elsewhere, shown);
  await settleBySnapshot(db, looked.runId, looked.pullId, SNAPSHOT_AT);
  expect(await stateOf(looked.refused)).toBe(isBarred ? 'rejected' : 'unknown');

  const answered = await stored(did, elsewhere, shown);
  await answerLate(answered.refused);
  const { rows } = await db.query('select tieout.is_barred($1) as barred', [answered.refused]);
  expect(rows).toEqual([{ barred: isBarred }]);
  const asked = await disputeByAnswers(db, [answered.accountId], SNAPSHOT_AT);
  expect(asked).toEqual(isBarred ? [] : [answered.refused]);
  expect(await stateOf(answered.refused)).toBe(isBarred ? 'rejected' : 'unknown');
});

test('what is planned in its place is taken back for an answer, and stays before a snapshot', async () => {
  const did = ['capture T1 rejected', 'capture T1 planned'];
  const looked = await stored(did, [], 'captured');
  await settleBySnapshot(db, looked.runId, looked.pullId, SNAPSHOT_AT);
  expect(await statesOf(looked.accountId)).toBe('rejected planned');
  const answered = await stored(did, [], 'captured');
  await answerLate(answered.refused);
  expect(await disputeByAnswers(db, [answered.accountId], SNAPSHOT_AT)).toEqual([answered.refused]);
  expect(await statesOf(answered.accountId)).toBe('unknown withdrawn');
});

test.each([
  ['refund T1 R1 4.00 rejected', 'refund T1 R2 3.00 planned', 'unknown withdrawn'],
  ['refund T1 R1 4.00 rejected', 'refund T1 R2 4.00 held', 'unknown withdrawn'],
  ['capture T1 rejected', 'capture T2 planned', 'unknown withdrawn'],
  ['cancel T1 rejected', 'capture T1 planned', 'rejected planned'],
])('after the answer to a %s nothing goes in its place: %s', async (refused, waits, want) => {
  const answered = await stored([refused, waits], [], 'captured');
  await answerLate(answered.refused);
  await disputeByAnswers(db, [answered.accountId], SNAPSHOT_AT);
  expect(await statesOf(answered.accountId)).toBe(want);
});

test('nor under the order to which its request has moved', async () => {
  const waits = ['refund T1 *R1 4.00 planned'];
  const answered = await stored(['refund T1 *R1 4.00 rejected'], waits, 'captured');
  await answerLate(answered.refused);
  await disputeByAnswers(db, [answered.accountId], SNAPSHOT_AT);
  expect(await statesOf(answered.accountId)).toBe('unknown withdrawn');
});

test.each([
  ['hold_reason', 'unknown withdrawn'],
  ['doubled', 'unknown withdrawn'],
  // Asked for beside it: another payment of the same sum.
  [null, 'unknown held'],
])('nor a payout that may be it: %s', async (column, want) => {
  const answered = await stored(['cancel T1 rejected', 'capture T1 held'], [], 'captured');
  await inSpiteOfGuards(
    `update tieout.instructions set operation = 'payout', payload = '{"payment_amount": "7"}',
       transaction_id = 'P' || instruction_id, order_no = 'P' || instruction_id
     where account_id = $1`,
    [answered.accountId],
  );
  await inSpiteOfGuards(
    `update tieout.instructions set ${column ?? 'reason'} = 'twin_request'
     where account_id = $1 and state = 'held'`,
    [answered.accountId],
  );
  await answerLate(answered.refused);
  await disputeByAnswers(db, [answered.accountId], SNAPSHOT_AT);
  expect(await statesOf(answered.accountId)).toBe(want);
});

describe('an answer that came when its replacement had gone', () => {
  const late = async (
    did: string[],
    days = 0,
  ): Promise<Awaited<ReturnType<typeof answeredLate>>> => {
    const { accountId, refused } = await stored(did, [], 'captured');
    await answerLate(refused);
    await inSpiteOfGuards(
      `update tieout.answers set received_at = now() - make_interval(days => $2::int)
       where attempt_id in (
         select t.attempt_id from tieout.attempts t where t.entries ? $1::bigint::text)`,
      [refused, days],
    );
    return answeredLate(db, [accountId]);
  };
  const GONE = ['refund T1 R1 4.00 rejected', 'refund T1 R1 4.00 confirmed'];

  test('is told each night, with both, for a fortnight', async () => {
    const found = await late(GONE);
    expect(found).toMatchObject([{ operation: 'refund', by: 'anna', found: 1 }]);
    const [one] = found;
    expect(one?.instead).toBe((one?.instructionId ?? 0n) + 1n);
    expect(answeredLateNotices(found)).toMatchObject([
      {
        kind: 'answered_late',
        text: expect.stringMatching(
          /refund \S+ \(#\d+: not made, said anna, #\d+ went in its place\)\. It may have been made twice/,
        ),
      },
    ]);
    expect(await late(GONE, 15)).toEqual([]);
  });

  test('is looked for by its keys, however much went since', async () => {
    const { accountId, refused, runId } = await stored(GONE, [], 'captured');
    await answerLate(refused);
    const others = Array.from({ length: 200 }, (_, at) =>
      orderOf(`P${at}`, { ledger: 'captured 10.00 EUR', did: ['capture T1 confirmed'] }),
    );
    await storeInstructions(db, runId, accountId, others);
    await inSpiteOfGuards(
      `update tieout.answers set received_at = now() where attempt_id in (
         select t.attempt_id from tieout.attempts t where t.entries ? $1::bigint::text)`,
      [refused],
    );
    expect(await answeredLate(db, [accountId])).toMatchObject([{ instead: refused + 1n }]);
    const read = await db.transaction(async (tx) => {
      await tx.query('set local enable_seqscan = off');
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (analyze, timing off, format json) ${statement('total/answeredLate')}`,
        [[accountId], 5, 14],
      );
      return rowsRead(rows[0]?.['QUERY PLAN'][0].Plan);
    });
    expect(read).toBeLessThan(40);
  });

  test('and not where nothing has gone: a person is asked again', async () => {
    expect(await late(['refund T1 R1 4.00 rejected', 'refund T1 R1 4.00 held'])).toEqual([]);
  });
});

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Of the instructions, found and thrown away. */
function rowsRead(node: PlanNode | undefined): number {
  if (!node) return 0;
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const below = (node.Plans ?? []).map(rowsRead).reduce((sum, one) => sum + one, 0);
  return below + (node['Relation Name'] === 'instructions' ? own : 0);
}

interface Stored extends Snapshot {
  accountId: string;
  refused: bigint;
}

async function stored(
  did: readonly string[],
  elsewhere: readonly string[],
  shown: string,
): Promise<Stored> {
  accounts += 1;
  const accountId = `A${accounts}`;
  const runId = await storeRun(db, accountId);
  const texts = { ledger: 'captured 10.00 EUR', gateway: [`T1 ${shown} 10.00`] };
  const order = orderOf('O1', { ...texts, did });
  const other = orderOf('O2', { ledger: texts.ledger, did: elsewhere });
  await storeInstructions(db, runId, accountId, [order, other]);
  await inSpiteOfGuards(
    `update tieout.instructions set transaction_id = account_id || '.O1/T1'
     where account_id = $1 and transaction_id like '%/T1'`,
    [accountId],
  );
  const { rows } = await db.query<{ refused: bigint }>(
    `select instruction_id as refused from tieout.instructions
     where account_id = $1 order by instruction_id limit 1`,
    [accountId],
  );
  const snapshot = await storeSnapshot(db, runId, accountId, [order]);
  return { ...snapshot, accountId, refused: rows[0]?.refused ?? 0n };
}

/** A person found that it had not happened; then its answer was stored. */
async function answerLate(refused: bigint): Promise<void> {
  await inSpiteOfGuards(
    `with at as (
       update tieout.instructions set batch_id = instruction_id where instruction_id = $1
       returning instruction_id, account_id
     ),
     attempt as (
       insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
         body_sha256, host, boot_id, pid, process_started, claimed_at, send_by, outcome,
         finished_at)
       select gen_random_uuid(), instruction_id, 1, account_id,
         jsonb_build_array(instruction_id::text), '', '', '', 1, '', $2, $2, 'unanswered', $2
       from at returning attempt_id
     ),
     answer as (
       insert into tieout.answers (attempt_id, received_at, http_status, body, body_sha256)
       select attempt_id, $2, 200, '', '' from attempt
     )
     insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim,
       reason, reference, finding, answers_known, seen, seen_sha256, row_before)
     select instruction_id, account_id, 'resolve', 'anna', true, 'the bank says so', 'mail',
       'not_happened', '{}', '{}', repeat('0', 64), '{}' from at`,
    [refused, SNAPSHOT_AT],
  );
}

async function inSpiteOfGuards(text: string, values: readonly unknown[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(text, values);
  });
}

async function stateOf(instructionId: bigint): Promise<string | undefined> {
  const { rows } = await db.query<{ state: string }>(
    'select state from tieout.instructions where instruction_id = $1',
    [instructionId],
  );
  return rows[0]?.state;
}

async function statesOf(accountId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ states: string }>(
    `select string_agg(state, ' ' order by instruction_id) as states
     from tieout.instructions where account_id = $1`,
    [accountId],
  );
  return rows[0]?.states;
}
