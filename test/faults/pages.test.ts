// Pages of the snapshot that go wrong: their orders are not compared, no break of theirs opens or
// resolves, nothing of theirs is sent; the rest of the night goes on, and the night is incomplete.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { dateOf, instructionCounts, kinds, openBreaksOf } from '../support/night.js';
import type { Call, Front } from './front.js';
import { answerJson, answerWith, drop, neverEnd, retell } from './front.js';
import { houseBehind } from './houseBehind.js';
import { impatient } from './impatient.js';

const BROKEN_ACCOUNT = 'A1001';

const TROUBLES: readonly {
  name: string;
  why: string;
  trouble: (call: Call) => Promise<boolean> | boolean;
}[] = [
  {
    name: 'a page for people',
    why: 'the answer is not JSON',
    trouble: (call) => say(call, 200, '<h1>Please log in</h1>'),
  },
  {
    name: 'HTTP 500',
    why: 'the gateway answered HTTP 500',
    trouble: (call) => say(call, 500, 'oops'),
  },
  { name: 'a reset', why: 'the connection was reset', trouble: drop },
  {
    name: 'half of the JSON',
    why: 'the answer is not JSON',
    trouble: async (call) => {
      const { body } = await call.pass();
      return say(call, 200, body.slice(0, body.length / 2));
    },
  },
  {
    name: 'another account',
    why: 'the answer names another account',
    trouble: (call) => retell(call, (answer) => ({ ...answer, account_id: 'A1002' })),
  },
  {
    name: 'return_status 0',
    why: 'the gateway answered return_status 0: OK',
    trouble: (call) => retell(call, (answer) => ({ ...answer, return_status: '0' })),
  },
  {
    name: 'bytes without end',
    why: 'the answer is larger than 8388608 bytes',
    trouble: (call) => neverEnd(call, 1, 1 << 20),
  },
  {
    name: 'a byte now and then',
    why: 'no answer in 1000 ms',
    trouble: (call) => neverEnd(call, 50, 1),
  },
];

function say({ response }: Call, status: number, body: string): true {
  answerWith(response, { status, contentType: 'text/html', body });
  return true;
}

describe('a page that is answered with', () => {
  let house: House;
  let front: Front;
  let breaksBefore: string[];

  beforeAll(async () => {
    ({ house, front } = await houseBehind({
      orders: 900,
      daysAgo: 2,
      inLedger: kinds({ plain: 20, capture_due: 6, amount_mismatch: 4, state_mismatch: 4 }),
      settings: { operations: { capture: 'approve' } },
    }));
    impatient(house, { timeoutMs: 1_000 });
    await night(house, 2);
    breaksBefore = await openBreaksOf(house.db);
    // Every difference of the ledger heals, and others come up.
    await house.db.query(
      `update ledger.orders set expected = case expected when 'captured' then 'declined'
         else 'captured' end, amount = amount + 1 where account_id = $1`,
      [BROKEN_ACCOUNT],
    );
  });

  afterAll(() => house.end());

  for (const { name, why, trouble } of TROUBLES) {
    it(`${name} leaves its orders not compared`, async () => {
      front.trouble = (call) =>
        call.operation === 'retrievalTrans' &&
        call.body.includes(`account_id=${BROKEN_ACCOUNT}`) &&
        trouble(call);
      const summary = await night(house, 1);
      const [broken, fine] = summary.accounts;
      expect(summary.state).toBe('incomplete');
      expect(summary.pull.failedPages).toBe(1);
      expect(broken).toMatchObject({ accountId: BROKEN_ACCOUNT, state: 'incomplete' });
      expect(broken?.orders.notCompared).toBe(broken?.orders.ledger);
      expect(summary.pull.unanswered).toBe(broken?.orders.ledger);
      expect(fine?.orders.notCompared).toBe(0);
      // Whoever is called reads why, wherever the night is told, and what to type.
      expect(runSentence(summary)).toContain(`1 page failed (${BROKEN_ACCOUNT}: ${why})`);
      const [notice] = summary.notices ?? [];
      expect(notice).toMatchObject({ accountId: BROKEN_ACCOUNT, kind: 'not_answered' });
      expect(notice?.text).toContain(`1 page was not answered, with 12 orders: ${why}`);
      expect(notice?.text).toContain(`\`tieout run --date ${summary.businessDate}\``);
      expect(await openBreaksOf(house.db)).toEqual(breaksBefore);
      expect(await instructionCounts(house.db)).toEqual({ 'capture held': 6 });
    });
  }

  it('nothing wrong is compared at last', async () => {
    front.trouble = () => false;
    const summary = await night(house, 1);
    expect(summary.accounts.map((account) => account.orders.notCompared)).toEqual([0, 0]);
    expect(await openBreaksOf(house.db)).not.toEqual(breaksBefore);
    expect((await instructionCounts(house.db))['capture withdrawn']).toBeGreaterThan(0);
  });
});

describe('a snapshot in which one page of several fails', () => {
  it('compares and sends the orders of the others', async () => {
    const { house, front } = await houseBehind({
      orders: 600,
    });
    try {
      const [first] = house.seeded.map(({ ledger }) => ledger.order_no).sort();
      front.trouble = (call) =>
        call.operation === 'retrievalTrans' && call.body.includes(first ?? '') && drop(call);
      const { summary } = await house.run();
      await expectIdentities(house.db, summary);
      expect(summary.pull.failedPages).toBe(1);
      expect(summary.pull.unanswered).toBe(100);
      expect((await house.effects()).length).toBeGreaterThan(0);
      expect(summary.state).toBe('incomplete');
    } finally {
      await house.end();
    }
  });
});

describe('a page that is answered with what another one asked for', () => {
  it('is asked again: its orders are not missing', async () => {
    const { house, front } = await houseBehind({ orders: 300 });
    try {
      const { summary: sound } = await house.run();
      let first: object | null = null;
      let exchanged = 0;
      front.trouble = async (call) => {
        if (call.operation !== 'retrievalTrans' || exchanged > 0) return false;
        const own = JSON.parse((await call.pass()).body) as { account_id: string };
        if (own.account_id !== BROKEN_ACCOUNT) return answerJson(call, own);
        if (first === null) first = own;
        else exchanged += 1;
        return answerJson(call, first);
      };
      const { summary } = await house.run();
      await expectIdentities(house.db, summary);
      expect(exchanged).toBe(1);
      expect(summary.pull.failedPages).toBe(0);
      const missing = (one: RunSummary) =>
        one.accounts.map(({ breaks }) => breaks.missing_at_gateway ?? 0);
      expect(missing(summary)).toEqual(missing(sound));
    } finally {
      await house.end();
    }
  });
});

describe('a snapshot after sending that fails', () => {
  it('leaves what was accepted to the next run, which confirms it', async () => {
    const { house, front } = await houseBehind({
      orders: 900,
      inLedger: kinds({ capture_due: 2 }, 'A1001'),
    });
    try {
      front.trouble = (call) =>
        call.operation === 'retrievalTrans' &&
        (front.asked.get('capture') ?? 0) > 0 &&
        answerJson(call, { return_status: '9' });
      const { summary } = await house.run();
      expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 2 });
      await expectIdentities(house.db, summary);
      expect(summary.accounts[0]?.orders.due).toBe(2);
      // Nobody can say yet that it happened, and its money stands where that is said.
      const told = summary.accounts[0]?.totals ?? [];
      expect(told.every(({ captured }) => captured === '0.00')).toBe(true);
      const sums = told.filter(({ unknown }) => unknown !== '0.00').map(({ unknown }) => unknown);
      const { rows } = await house.db.query<{ sum: string }>(
        'select sum(amount)::text as sum from tieout.instructions group by currency order by currency',
      );
      expect(sums).toEqual(rows.map(({ sum }) => sum));
      // A page failed, even though not of the first snapshot.
      expect(summary).toMatchObject({ state: 'incomplete', pull: { failedPages: 0 } });
      const unanswered = (summary.notices ?? []).filter(({ kind }) => kind === 'not_answered');
      expect(unanswered.map(({ text }) => text.split(':')[0])).toEqual([
        '1 page of the look after sending was not answered, with 2 orders',
      ]);
      expect(summary.accounts.map(({ failedLater }) => failedLater)).toContain(1);
      expect(runSentence(summary)).toContain('1 page failed in the look after sending');
      front.trouble = () => false;
      const again = await house.run();
      expect(again.summary.state).toBe('tied_out');
      expect((await house.effects()).length).toBe(2);
    } finally {
      await house.end();
    }
  });
});

async function night(house: House, daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  const { summary } = await house.run({ date: dateOf(daysAgo) }, at);
  await expectIdentities(house.db, summary);
  return summary;
}
