// What is said to somebody who closes a day, line by line.

import { expect, test } from 'vitest';
import type { DayFigures } from '../../src/core/runs/businessDay.js';
import { booksBegin } from '../../src/core/runs/businessDay.js';
import type { ClosingFacts, LateRows, MovedAfter } from '../../src/core/runs/closingChecklist.js';
import {
  aboutText,
  closingChecklist,
  onPage,
  signingAnswer,
} from '../../src/core/runs/closingChecklist.js';
import { sinceSignedWords, statedWords } from '../../src/core/runs/sinceClosed.js';

const WELL: ClosingFacts = {
  ...{ runState: 'tied_out', notCompared: 0, openBreaks: 0, openMoney: [], notSettled: 0 },
  ...{
    openWithoutAmount: 0,
    waivedBreaks: 0,
    waivedMoney: [],
    waivedWithoutAmount: 0,
    suspense: 0,
  },
  ...{ unknown: 0, waiting: 0, gaps: [], isUnexplained: false, movedAfter: [] },
  isLocked: false,
  isRemoved: false,
};

test('a day on which all is well has nothing but ticks', () => {
  expect(closingChecklist(WELL).filter(({ isWell }) => !isWell)).toEqual([]);
});

test.each<[Partial<ClosingFacts>, RegExp]>([
  [{ runState: null }, /no night of this date/],
  [{ runState: 'incomplete', notCompared: 1 }, /night is incomplete: 1 order was not compared/],
  [{ runState: 'broken' }, /night did not tie out/],
  [{ gaps: ['2026-11-01'] }, /no night covers 2026-11-01$/],
  [{ gaps: Array.from({ length: 7 }, (_, at) => `2026-11-0${at + 1}`) }, /2026-11-05 and 2 more$/],
  [{ isUnexplained: null }, /there is no statement/],
  [{ isUnexplained: true }, /do not sign/],
  [
    { openBreaks: 2, openMoney: [{ currency: 'EUR', amount: '7.00' }] },
    /2 breaks are open now, of all days: 7.00 EUR at stake/,
  ],
  [
    { openBreaks: 1, openWithoutAmount: 1 },
    /1 break is open now, of all days: 1 without an amount$/,
  ],
  [
    { openBreaks: 5, openMoney: [{ currency: 'EUR', amount: '10.00' }], openWithoutAmount: 4 },
    /5 breaks are open now, of all days: 10.00 EUR at stake, 4 without an amount$/,
  ],
  [{ suspense: 1 }, /1 movement is in suspense at the end of this day: done elsewhere, and nobody/],
  [{ unknown: 1 }, /1 outcome is unknown now/],
  [{ waiting: 3 }, /3 instructions have not come to an end now/],
])('%j has one cross', (facts, words) => {
  const crosses = closingChecklist({ ...WELL, ...facts }).filter(({ isWell }) => !isWell);
  expect(crosses.map((line) => line.words)).toEqual([expect.stringMatching(words)]);
});

test('that nothing came late is said of the ledger alone: money may have moved after the night', () => {
  const late = { businessDate: '2026-11-18', orders: 0, refunds: 0, earlier: 0, named: [] };
  const facts = { ...late, countsOn: [], uncounted: 0, isPast: true };
  const move = {
    accountId: 'A1',
    operation: 'capture',
    currency: 'EUR',
    amount: '620.00',
  } as const;
  const movedAfter = [{ ...move, countsOn: '2026-11-19', isStated: true }];
  const lines = closingChecklist({ ...WELL, late: facts, movedAfter, isLocked: true });
  const said = lines.filter(({ topic }) => topic === 'ledger' || topic === 'movedAfter');
  expect(said.map(({ isWell, words }) => `${isWell} ${words.split(':')[0]}`)).toEqual([
    'true no order or refund request of this day came or changed in the ledger after its night had ' +
      'looked, and none of an earlier day changed',
    'true after the night of this day had ended',
  ]);
});

test('what is waived is said with its money, and speaks against nothing', () => {
  const waivedMoney = [{ currency: 'EUR', amount: '992.00' }];
  const lines = closingChecklist({
    ...WELL,
    waivedBreaks: 993,
    waivedMoney,
    waivedWithoutAmount: 1,
  });
  expect(lines).toContainEqual({
    topic: 'waived',
    isWell: true,
    isInTheWay: false,
    words: '993 breaks are waived: 992.00 EUR at stake, 1 without an amount',
  });
  expect(signingAnswer(lines)).toEqual({ canBeSigned: true, because: [] });
});

test('where the looks are removed nobody is sent to write the workbook again: it is refused', () => {
  const moved = { accountId: 'A1', operation: 'refund', currency: 'EUR', amount: '7.00' } as const;
  const movedAfter = [{ ...moved, countsOn: '2026-11-24', isStated: false }];
  const lateBatches = { batches: 1, named: ['B1'], money: [] };
  const facts = { ...WELL, movedAfter, lateBatches, isRemoved: true };
  const said = closingChecklist(facts).filter(({ isWell }) => !isWell);
  expect(said.map(({ words }) => words)).toEqual([
    expect.stringMatching(/without it: sign it knowing so, since its snapshots are removed by/),
    expect.stringMatching(
      /is without it: its snapshots are removed by retention, and its workbooks/,
    ),
  ]);
  for (const { words } of said) expect(words).not.toMatch(/written (again|now)|Write again/);
  const changes = [
    { accountId: 'A1', what: 'batches', currency: 'EUR', count: 1, isStated: false } as const,
  ];
  const since = { isKept: true, changes };
  expect(statedWords(since, 2, true)).toMatch(
    /^It is not in the figures of revision 2; its snapsh/,
  );
  expect(statedWords(since, 2, false)).toMatch(/; a revision that is written now has it$/);
});

test('what moved after the night had ended is said with its money and the date it counts on', () => {
  const of = (countsOn: string, amount: string): MovedAfter => {
    const refund = { accountId: 'A1', operation: 'refund', currency: 'EUR' } as const;
    return { ...refund, amount, countsOn, isStated: false };
  };
  const movedAfter = [
    { ...of('2026-11-24', '1500.00'), operation: 'capture' as const },
    of('2026-11-24', '50.00'),
    of('2026-11-25', '7.00'),
  ];
  const answer = signingAnswer(closingChecklist({ ...WELL, movedAfter }));
  expect(answer.canBeSigned).toBe(true);
  expect(answer.because.map(({ words }) => words)).toEqual([
    expect.stringMatching(/1,500.00 EUR captured, 50.00 EUR refunded. It counts on 2026-11-24 in/),
    expect.stringMatching(/ended: 7.00 EUR refunded. It counts on 2026-11-25 in .* without it/),
  ]);
  // What the newest statement has is a tick: statement, day and settlement say the same.
  const stated = movedAfter.map((one) => ({ ...one, isStated: true }));
  const lines = closingChecklist({ ...WELL, movedAfter: stated });
  expect(signingAnswer(lines).because).toEqual([]);
  expect(lines.filter(({ topic }) => topic === 'movedAfter').map(({ words }) => words)).toEqual([
    expect.stringMatching(/50.00 EUR refunded. It counts on 2026-11-24 .* the statement has it$/),
    expect.stringMatching(/7.00 EUR refunded. It counts on 2026-11-25 .* the statement has it$/),
  ]);
});

test('what changed behind a signed page is told of its currency, and which figures have it', () => {
  const of = (
    what: 'orders' | 'adjustments' | 'batches' | 'restated',
    currency: string | null,
    more = {},
  ) => ({
    ...{ accountId: 'A1', what, currency, count: 2, isStated: what !== 'orders' },
    ...more,
  });
  const changes = [of('orders', 'EUR'), of('adjustments', 'EUR'), of('orders', null)];
  const pages = ['EUR', 'GBP', 'JPY'].map((currency) => ({ accountId: 'A1', currency }));
  const [euro, pound, yen] = pages.map((_page, at) => {
    return { isKept: true, changes: onPage(changes, pages, at) };
  });
  if (!euro || !pound || !yen) throw new Error('no pages');
  const orders = '2 orders of that day are new or different';
  expect([euro, pound, yen].map(sinceSignedWords)).toEqual([
    `2 adjustments of this day, ${orders}`,
    null,
    orders,
  ]);
  expect(statedWords(euro, 3, false)).toMatch(
    new RegExp(`^In the figures of revision 3: 2 adj.* day. Not in them: ${orders}; `),
  );
  expect(statedWords(yen, 3, false)).toMatch(/^It is not in the figures of revision 3; /);
  const restated = { isKept: true, changes: [of('restated', 'EUR'), of('restated', 'JPY')] };
  expect(sinceSignedWords(restated)).toBe('the newest revision of its workbook has other figures');
  expect(statedWords(restated, 3, false)).toBe('It is in the figures of revision 3');
  const batches = { isKept: true, changes: [{ ...of('batches', 'EUR'), isStated: false }] };
  expect(sinceSignedWords(batches)).toMatch(/^2 settlement batches .*came after the revision/);
  expect(statedWords(batches, 3, false)).toBe(
    'It is not in the figures of revision 3; a revision that is written now has it',
  );
});

test('what moved in a currency without a page stands on the last page of its account', () => {
  const of = (accountId: string, currency: string) =>
    ({ accountId, currency, operation: 'refund', amount: '5.00', countsOn: '2026-11-24' }) as const;
  const moved = [of('A1', 'EUR'), of('A1', 'JPY'), of('A2', 'EUR'), of('A2', 'GBP')];
  const pages = [of('A1', 'EUR'), of('A1', 'GBP'), of('A2', 'EUR')];
  expect(pages.map((_page, at) => onPage(moved, pages, at))).toEqual([
    [moved[0]],
    [moved[1]],
    [moved[2], moved[3]],
  ]);
});

test('what came to the ledger after the night is counted, with the night that has it', () => {
  const late: LateRows = {
    ...{ businessDate: '2026-11-24', orders: 2, refunds: 0, earlier: 0, countsOn: [] },
    ...{ uncounted: 2, isPast: false, named: [{ orderNo: 'SO-1', refundId: null }] },
  };
  const wordsOf = (given: Partial<LateRows>) =>
    closingChecklist({ ...WELL, late: { ...late, ...given } }).find(
      ({ topic }) => topic === 'ledger',
    );
  expect(wordsOf({ orders: 0, uncounted: 0 })?.isWell).toBe(true);
  expect(wordsOf({})).toMatchObject({ isWell: false, isInTheWay: false });
  expect(wordsOf({})?.words).toMatch(
    /^2 orders of this day .* count in the next night: .*`tieout run --date 2026-11-24`\)$/,
  );
  // Each is named, and of more than are named it is said how many.
  const named = [...late.named, { orderNo: 'SO-2', refundId: 'R-2' }];
  const about = [wordsOf({})?.about, wordsOf({ refunds: 3, named })?.about];
  expect(about.map((one) => (one === undefined ? '' : aboutText(one)))).toEqual([
    'SO-1 and 1 more',
    'SO-1, refund R-2 of SO-2 and 3 more',
  ]);
  // Orders of earlier days are not of this one: they are told apart.
  expect(wordsOf({ orders: 0, earlier: 1, uncounted: 1 })?.words).toMatch(
    /^1 order of an earlier day changed after its night had looked, and the statement has the ledger as it was before; it counts in /,
  );
  expect(wordsOf({ refunds: 1, earlier: 3, uncounted: 6 })).toMatchObject({
    words: expect.stringMatching(
      /^2 orders and 1 refund request of this day came or changed, and 3 orders of earlier days changed after its night /,
    ),
    about: { count: 6 },
  });
  const [one, two] = ['2026-11-25', '2026-11-26'];
  // A date with a newer night is shown again and no more: nobody is sent to run it.
  const past = [
    wordsOf({ refunds: 1, countsOn: [one], uncounted: 0, isPast: true })?.words,
    wordsOf({ countsOn: [one, two], uncounted: 1, isPast: true })?.words,
    wordsOf({ isPast: true })?.words,
  ];
  expect(past[0]).toMatch(
    /^2 orders and 1 refund request of .* count in the night of 2026-11-25: sign it knowing so, /,
  );
  expect(past[1]).toContain(
    'the nights of 2026-11-25, 2026-11-26, and 1 of them in the next night: ',
  );
  for (const words of past) {
    expect(words).toMatch(/: sign it knowing so, since a newer night stands and no run can bring /);
    expect(words).not.toContain('run the date again');
    expect(words).not.toContain('tieout run');
  }
  // Nobody signs what is locked: it is said, and nothing is advised.
  for (const isPast of [true, false]) {
    const facts = { ...WELL, isLocked: true, isUnexplained: true, late: { ...late, isPast } };
    const locked = closingChecklist(facts).map(({ words }) => words);
    expect(locked).toContain('the statement leaves money unexplained');
    expect(locked.find((words) => words.startsWith('2 orders'))).toMatch(/in the next night$/);
  }
  const unknown = closingChecklist({ ...WELL, late: null }).filter(({ isWell }) => !isWell);
  expect(unknown.map(({ words }) => words)).toEqual([expect.stringMatching(/did not answer/)]);
});

test('late settlements are named beside the breaks that they are', () => {
  const lines = closingChecklist({ ...WELL, openBreaks: 3, notSettled: 2 });
  expect(lines.map(({ words }) => words).join('\n')).toMatch(/2 of them are money .* late\?/);
});

test.each<[Partial<ClosingFacts>, boolean, string[]]>([
  [{}, true, []],
  [{ runState: 'broken', openBreaks: 2, waiting: 1 }, true, ['breaks', 'waiting']],
  [{ runState: 'broken', openBreaks: 2, notSettled: 1 }, true, ['breaks', 'notSettled']],
  [{ runState: 'broken', openBreaks: 2, unknown: 1 }, false, ['unknown']],
  [{ runState: null, isUnexplained: null }, false, ['gaps', 'statement']],
  [{ runState: 'incomplete' }, false, ['night']],
  [{ runState: 'broken', notCompared: 1 }, false, ['night']],
  [{ runState: 'failed', gaps: ['2026-11-01'], unknown: 1 }, false, ['night', 'gaps', 'unknown']],
  [{ isUnexplained: true }, false, ['statement']],
])('of a day with %j it is said whether it can be signed', (facts, canBeSigned, topics) => {
  const answer = signingAnswer(closingChecklist({ ...WELL, ...facts }));
  expect(answer.canBeSigned).toBe(canBeSigned);
  expect(answer.because.map(({ topic }) => topic)).toEqual(topics);
});

test('says since when the books have what was made elsewhere, of many accounts by date', () => {
  const day = (at: number, since: string) => {
    const elsewhere = { captured: '0.00', refunded: '0.00', suspense: 0, since };
    return { accountId: `S${at}`, elsewhere } as DayFigures;
  };
  const days = (count: number) =>
    Array.from({ length: count }, (_, at) => day(at + 1, at < 2 ? '2026-11-25' : '2026-11-24'));
  expect(booksBegin(days(3))).toBe(
    'The books have it of S1 from 2026-11-25, S2 from 2026-11-25, S3 from 2026-11-24 on.',
  );
  expect(booksBegin(days(600))).toBe(
    'The books have it of 598 accounts (S3, S4, S5 and 595 more) from 2026-11-24, ' +
      '2 accounts (S1, S2) from 2026-11-25 on.',
  );
});
