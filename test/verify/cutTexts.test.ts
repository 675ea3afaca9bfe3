// A night of before long texts of the gateway were masked before they were cut: what is decoded
// again out of its answers differs by the digits of the card number alone, and that is told as no
// difference (src/gateway/query/decode.ts). Neighbour: verify.test.ts.

import { expect, it } from 'vitest';
import { maskedStart } from '../../src/core/text/masking.js';
import { rolledBack } from '../../src/database/rolledBack.js';
import type { Difference } from '../../src/verify/scratchStore.js';
import { differingEntries, finishEntries, openScratch } from '../../src/verify/scratchStore.js';

import { db, look, ownFacts } from '../settlement/facts.js';

ownFacts();

const CARD = '4111 1111 1111 1111';

/** What `verify` says of an order whose entry was kept so, and is decoded so today. */
async function told(kept: string | null, now: string | null): Promise<Difference[]> {
  await look('answered', [{ order: '1', state: 'captured' }]);
  return rolledBack(db, async (tx) => {
    const { rows } = await tx.query<{ pull_id: bigint; run_id: bigint }>(
      'select pull_id, run_id from tieout.pulls order by pull_id desc limit 1',
    );
    const [{ pull_id: pullId, run_id: runId } = { pull_id: 0n, run_id: 0n }] = rows;
    await tx.query('set local session_replication_role = replica');
    const put = 'update tieout.look_entries set query_result = $2 where pull_id = $1';
    await tx.query(put, [pullId, kept]);
    await openScratch(tx, runId);
    await tx.query(
      `insert into pg_temp.look_entries select * from tieout.look_entries where pull_id = $1`,
      [pullId],
    );
    await tx.query('update pg_temp.look_entries set query_result = $1', [now]);
    await finishEntries(tx, [pullId]);
    return differingEntries(tx);
  });
}

const cut = (text: string): string => `${text.slice(0, 200)}…`;
const today = (text: string): string => `${maskedStart(text, 200)}…`;
const long = (before: number): string =>
  `${'no_%\\'.repeat(50).slice(0, before)} ${CARD} ${'.'.repeat(200)}`;

it.each([
  ['within the cut', long(20)],
  ['across the cut', long(190)],
])('a card number %s differs in nothing', async (_name, text) => {
  expect(today(text)).toContain('*');
  expect(today(text)).not.toBe(cut(text));
  expect(await told(cut(text), today(text))).toEqual([]);
});

it.each<[string, string | null, string | null]>([
  ['nothing in its place', cut(long(20)), null],
  ['one in the place of nothing', null, today(long(20))],
  ['another text', cut(long(20)).replace('no', 'on'), today(long(20))],
  ['another digit that is shown', cut(long(20)).replace('4111', '4112'), today(long(20))],
  ['letters in the place of digits', cut(long(20)).replace('11 1111', '11 abcd'), today(long(20))],
  ['a text that was not cut', CARD, '4111 11** **** 1111'],
])('%s is named', async (_name, kept, now) => {
  expect(await told(kept, now)).toMatchObject([
    { orderNo: '1', what: 'entry 1/1 query_result', was: kept, is: now },
  ]);
});
