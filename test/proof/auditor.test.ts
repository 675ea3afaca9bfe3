// The auditor finds what it is there for: sound books have no violation, and each invariant that
// is broken on purpose is named. The books are made by hand here; that they are read rightly out
// of a database is shown where a night is audited.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { allFiles, importsOf } from '../support/sourceFiles.js';
import type { Planted } from './plantedTold.js';
import { add, disputeTheRefund, editSummary, forget, PLANTED_TOLD, rowOf } from './plantedTold.js';
import type { Books, Row } from './soundBooks.js';
import { attempt, effect, instruction, MIDNIGHT, soundBooks, trail } from './soundBooks.js';

interface Found {
  violations: { invariant: string; words: string }[];
  money: Map<string, Record<'confirmed' | 'moved' | 'unknown' | 'difference', bigint>>;
}

const AUDITOR = new URL('../../proof/auditor/findViolations.mjs', import.meta.url).href;

async function findViolations(books: Books): Promise<Found> {
  const auditor = (await import(AUDITOR)) as { findViolations: (books: Books) => Found };
  return auditor.findViolations(books);
}

/** What is planted, and the invariants that must cry out; others may, too. */
const PLANTED: readonly Planted[] = [
  [
    'a capture that is not booked',
    ['I15'],
    (books) => {
      books.movements?.shift();
    },
  ],
  [
    'a capture that is booked with another amount',
    ['I15'],
    (books) => {
      rowOf(books, 'movements', 0).amount = '9.00';
    },
  ],
  [
    'a refund that is booked and never was',
    ['I15'],
    (books) => {
      add(books, 'movements', {
        ...rowOf(books, 'movements', 2),
        ...{ order_no: '1' },
        transaction_id: 'T1',
      });
    },
  ],
  [
    'a capture that happened twice',
    ['I1', 'I8'],
    (books) => {
      add(books, 'effects', effect('1', 'capture', 'again.body1'));
    },
  ],
  [
    'a refund of the same request by two instructions',
    ['I1'],
    (books) => {
      add(books, 'instructions', {
        ...instruction('5', 'refund', 'confirmed', '4.00'),
        order_no: '3',
        transaction_id: 'T3',
        refund_id: 'R3',
      });
      add(books, 'attempts', { ...attempt('5') });
      add(books, 'effects', { ...effect('3', 'refund', 'x5.body5', '4.00') });
      rowOf(books, 'instructions', 2).state = 'confirmed';
    },
  ],
  [
    'a confirmed capture that never happened',
    ['I2'],
    (books) => {
      books.effects?.shift();
    },
  ],
  [
    'a confirmed capture of another currency',
    ['I2'],
    (books) => {
      rowOf(books, 'effects', 0).currency = 'USD';
    },
  ],
  [
    'a capture of another amount',
    ['I2', 'I4'],
    (books) => {
      rowOf(books, 'effects', 0).amount = '11.00';
    },
  ],
  [
    'a rejected capture that happened',
    ['I3'],
    (books) => {
      rowOf(books, 'instructions', 0).state = 'rejected';
    },
  ],
  [
    'an attempt that was not sent and had an effect',
    ['I3', 'I8'],
    (books) => {
      rowOf(books, 'attempts', 0).outcome = 'not_sent';
    },
  ],
  [
    'an effect that nobody ordered',
    ['I4', 'I8'],
    (books) => {
      add(books, 'effects', effect('3', 'capture', 'x9.body9'));
    },
  ],
  [
    'an order that was forgotten',
    ['I5'],
    (books) => {
      rowOf(books, 'transactions', 0).state = 'authorised';
    },
  ],
  [
    'a refund request that was forgotten',
    ['I5'],
    (books) => {
      add(books, 'requests', requestOf('1'));
    },
  ],
  [
    'a refund request of an order that was called off after its money was taken',
    ['I5'],
    (books) => {
      rowOf(books, 'transactions', 3).state = 'captured';
      add(books, 'requests', requestOf('4'));
    },
  ],
  [
    'a refund request of an order that is to be captured and was cancelled',
    ['I5'],
    (books) => {
      rowOf(books, 'orders', 3).expected = 'captured';
      add(books, 'requests', requestOf('4'));
    },
  ],
  [
    'an instruction that is stuck half-way',
    ['I5'],
    (books) => {
      rowOf(books, 'instructions', 0).state = 'sending';
    },
  ],
  [
    'an unknown that nobody is told of',
    ['I5'],
    (books) => {
      rowOf(books, 'breaks', 0).state = 'resolved';
    },
  ],
  [
    'an unknown capture whose effect shows',
    ['I6'],
    (books) => {
      rowOf(books, 'instructions', 0).state = 'unknown';
      add(books, 'breaks', {
        account_id: 'A1',
        order_no: '1',
        kind: 'outcome_unknown',
        state: 'open',
      });
    },
  ],
  [
    'more refunded than captured',
    ['I7'],
    (books) => {
      add(books, 'effects', effect('2', 'refund', 'portal.y', '0.01'));
    },
  ],
  [
    'an effect before its claim',
    ['I8'],
    (books) => {
      rowOf(books, 'effects', 0).at = '2026-01-01T23:59:59.000Z';
    },
  ],
  [
    'two open instructions of one order',
    ['I9'],
    (books) => {
      add(books, 'instructions', {
        ...instruction('6', 'refund', 'withdrawn', '1.00'),
        order_no: '3',
      });
      add(books, 'events', ...trail('6', ['planned', 'withdrawn']));
    },
  ],
  [
    'a capture after a cancel',
    ['I9'],
    (books) => {
      add(books, 'effects', effect('4', 'capture', 'x7.body7'));
    },
  ],
  [
    'an answer that was edited',
    ['I10'],
    (books) => {
      rowOf(books, 'answers', 0).body = Buffer.from('{"a":1}');
    },
  ],
  [
    'a sealed fact that was edited',
    ['I10'],
    (books) => {
      rowOf(books, 'sealed', 0).line = '(attempt,9)';
    },
  ],
  [
    'a sealed fact that is gone',
    ['I10'],
    (books) => {
      books.sealed?.pop();
    },
  ],
  [
    'a link that was edited',
    ['I10'],
    (books) => {
      rowOf(books, 'links', 1).day = '2026-01-02';
    },
  ],
  [
    'a link that is gone from the middle',
    ['I10'],
    (books) => {
      books.links?.shift();
    },
  ],
  [
    'the newest link cut off',
    ['I10'],
    (books) => {
      books.links?.pop();
    },
  ],
  [
    'a link made anew over an edited fact',
    ['I10'],
    (books) => {
      const [link, line] = [rowOf(books, 'links', 0), rowOf(books, 'sealed', 1)];
      line.line = '(attempt,9)';
      const lines = ['(attempt,1)', '(attempt,9)'];
      link.facts_sha256 = sha256(lines.map((one) => `${one}\n`).join(''));
      const said = [link.account_id, '1', link.day, link.what, '2', link.facts_sha256, ''];
      link.sha256 = sha256(`${said.join('\n')}\n`);
    },
  ],
  [
    'a total that is a cent off',
    ['I11'],
    (books) => {
      editSummary(books, (account) => {
        const total = { currency: 'EUR', captured: '10.01', cancelled: '0.00', refunded: '10.00' };
        account.totals = [total];
      });
    },
  ],
  [
    'a total in a currency that is missing',
    ['I11'],
    (books) => {
      editSummary(books, (account) => {
        account.totals = [];
      });
    },
  ],
  [
    'a capture that a finished night saw and left out, though a later one counts it',
    ['I11'],
    (books) => {
      const run = rowOf(books, 'runs', 0);
      run.looked_at = '2026-01-02T00:00:02.000Z';
      run.ended_at = '2026-01-02T00:00:03.000Z';
      const late = ['2026-01-02T00:00:00.000Z', '2026-01-02T00:00:04.000Z'];
      for (const event of books.events ?? []) {
        if (event.id === '1') event.at = late[event.to === 'confirmed' ? 1 : 0];
      }
      rowOf(books, 'instructions', 0).settled_run_id = '2';
      editSummary(books, (account) => {
        account.totals = [
          { currency: 'EUR', captured: '0.00', cancelled: '0.00', refunded: '10.00' },
        ];
      });
    },
  ],
  [
    'an order in no class',
    ['I11'],
    (books) => {
      editSummary(books, (account) => {
        account.orders = { ...(account.orders as Row), ledger: 5 };
      });
    },
  ],
  [
    'breaks that do not tie',
    ['I11'],
    (books) => {
      editSummary(books, (account) => {
        account.tie = { ...(account.tie as Row), openAfter: 2 };
      });
    },
  ],
  ...PLANTED_TOLD,
];

function requestOf(order_no: string): Row {
  return { account_id: 'A1', refund_id: `R${order_no}`, order_no, refund_amount: '3.00' };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const namesOf = async (books: Books) =>
  (await findViolations(books)).violations.map(({ invariant }) => invariant);

describe('the auditor', () => {
  it('has nothing to say of sound books', async () => {
    const { violations, money } = await findViolations(soundBooks());
    expect(violations).toEqual([]);
    expect(money.get('EUR')).toEqual({
      confirmed: 20_00n,
      moved: 24_00n,
      unknown: 4_00n,
      difference: 0n,
    });
  });

  it.each(PLANTED)('finds %s', async (_, expected, plant) => {
    const books = soundBooks();
    plant(books);
    expect(await namesOf(books)).toEqual(expect.arrayContaining([...expected]));
  });

  it.each(['10.00', '4.00'])('takes for a refund of %s one of another name once', async (money) => {
    const books = soundBooks();
    const row = instruction('3', 'refund', 'confirmed', money);
    Object.assign(rowOf(books, 'instructions', 2), row);
    books.effects = books.effects?.filter(({ request }) => request !== 'x3.body3') ?? [];
    add(books, 'effects', effect('3', 'refund', 'x8.bodyL3', money));
    expect(await namesOf(books)).toContain('I2');
    forget(books, { ...row, id: 'L3', refund_id: 'R3-b' });
    expect(await namesOf(books)).not.toContain('I2');
    add(books, 'instructions', { ...row, id: '9', refund_id: 'R3-c' });
    expect(await namesOf(books)).toContain('I2');
  });

  it('asks for no refund of what was called off before its money was taken', async () => {
    const books = soundBooks();
    add(books, 'requests', requestOf('4'));
    expect(await namesOf(books)).toEqual([]);
    rowOf(books, 'transactions', 3).state = 'declined';
    expect(await namesOf(books)).toEqual([]);
  });

  it('asks for no dispute that a person had seen, or that came later', async () => {
    const books = soundBooks();
    disputeTheRefund(books, MIDNIGHT - 1);
    expect((await findViolations(books)).violations).toEqual([]);
    books.approvals = [];
    rowOf(books, 'disputed', 0).at = MIDNIGHT + 1;
    expect((await findViolations(books)).violations).toEqual([]);
  });

  it('states money that moved unordered as a difference', async () => {
    const books = soundBooks();
    add(books, 'effects', effect('1', 'capture', 'again.body1'));
    const { money } = await findViolations(books);
    expect(money.get('EUR')?.difference).toBe(10_00n);
  });

  it('shares no code with the program', () => {
    const files = allFiles().filter((path) => path.startsWith('proof/auditor/'));
    const foreign = files.flatMap((path) =>
      importsOf(path)
        .filter(({ specifier }) => !/^(\.\/|node:|pg$)/.test(specifier))
        .map(({ specifier }) => `${path}: ${specifier}`),
    );
    expect(files.length).toBeGreaterThan(3);
    expect(foreign).toEqual([]);
  });

  it('is planted at least one violation of each invariant', () => {
    const planted = new Set(PLANTED.flatMap(([, expected]) => expected));
    const all = Array.from({ length: 16 }, (_, at) => `I${at + 1}`);
    expect(all.filter((invariant) => !planted.has(invariant))).toEqual([]);
  });
});
