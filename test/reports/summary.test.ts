// The night in one sentence, for every state that a run can end in.

import { describe, expect, test } from 'vitest';
import { summaryLines } from '../../src/cli/runs/summaryText.js';
import { shownLine } from '../../src/cli/terminal.js';
import { runFinished } from '../../src/core/alertMessages.js';
import { codeNotice } from '../../src/core/runs/codeNotices.js';
import {
  leftAccountNotice,
  noHistoryNotice,
  noOrdersNotice,
  notAnsweredNotice,
  notFinishedNotice,
  notSentNotice,
} from '../../src/core/runs/notices.js';
import type { RunState, RunSummary } from '../../src/core/runs/summary.js';
import { runSentence, workedOutOpenAfter } from '../../src/core/runs/summary.js';
import { withoutCommands } from '../../src/core/text/commandWords.js';
import { sampleSummary } from './sampleRun.js';

const SEEN = {
  ...{ accountId: 'A1001', field: 'payment_status', entries: 1, money: { KWD: '12.34' } },
  samples: ['ORD-1'],
};

function night(state: RunState, change: (summary: RunSummary) => void = () => undefined): string {
  const summary = { ...sampleSummary(), state };
  change(summary);
  return runSentence(summary);
}

describe('the night in one sentence', () => {
  test('broken names the orders, the kinds and what is held', () => {
    expect(night('broken')).toBe(
      'Business date 2026-11-19 did not tie out: 2 of 12 orders differ ' +
        '(1 amount mismatch and 1 not at the gateway); 1 instruction waiting for approval.',
    );
  });

  test('a stop that a person has to lift is its end, also in a message that is cut', () => {
    const stop = { accountId: 'A1001', reason: 'all sending is frozen since then: lost' };
    const standing = 'sending is stopped for all accounts: lost; to resume: tieout brake off';
    const stopped = (summary: RunSummary) => {
      summary.notices = [notSentNotice({ ...stop, instructions: 0, standing })];
    };
    expect(night('tied_out', stopped).endsWith(`; ${standing}.`)).toBe(true);
    expect(night('broken', stopped).endsWith(`; ${standing}.`)).toBe(true);
    const summary = { ...sampleSummary(), state: 'tied_out' as const };
    stopped(summary);
    const reason = 'disk '.repeat(400);
    summary.unwritten = [{ kind: 'reconciliation', reason }];
    const { text } = runFinished(summary);
    // Cut behind a word, with a sign that it is, and in whole parentheses.
    expect(text).toMatch(/ could not be written \((disk )+\.\.\.\); sending is stopped/);
    expect(text.endsWith(`; ${standing}.`)).toBe(true);
    expect([text.length > 980, text.length <= 1_000]).toEqual([true, true]);
    summary.unwritten = [{ kind: 'orders', reason: 'no room for 12,000 files; '.repeat(60) }];
    expect(runFinished(summary).text).toMatch(/ no room for 12,000 files \.\.\.\); sending is/);
  });

  test('of an account that left, each way is named once, and only where something is left', () => {
    const left = { accountId: 'S18', states: {}, breaks: 2 };
    const notice = leftAccountNotice(left);
    const settle = 'or settle each: “Breaks of S18” on the console, then waive';
    expect(withoutCommands(notice.text).endsWith(settle)).toBe(true);
    const both = leftAccountNotice({ ...left, states: { held: 1 } }).text;
    expect(both.match(/`tieout \w+ list --account S18`/g)).toHaveLength(2);
    // Its own sentence says so, too, where it is not the whole night that is told of.
    const told = night('broken', (summary) => {
      summary.notices = [notice];
    });
    expect(told).toContain('; account S18 left the configuration with 2 open breaks and 1 instr');
  });

  test.each([
    ['tieout failed: the disk is full: make room under /var', 'tieout failed: the disk is full'],
    ['all sending is frozen since 03:00: lost', 'all sending is frozen'],
    ['the journal of permits at /j cannot be written, the disk is read-only: mount it', /only$/],
    ['the gateway refused the connection', 'the gateway refused the connection'],
  ])('what kept instructions back is said by its useful words: %s', (reason, about) => {
    const notice = notSentNotice({ accountId: 'A1001', reason, instructions: 2 });
    expect(notice.about).toMatch(about);
  });

  test('what no approval frees waits for no person', () => {
    const sentence = night('broken', ({ accounts: [first] }) => {
      if (first) first.instructions = { capture: { held: 3 }, refund: { held: 3 } };
      if (first) first.heldBySetting = { capture: 1 };
    });
    expect(sentence).toMatch(
      /; 5 instructions waiting for approval and 1 instruction held by a setting\.$/,
    );
  });

  test('broken names the four most frequent kinds, and counts the others', () => {
    const sentence = night('broken', (summary) => {
      const [first, second] = summary.accounts;
      if (first) first.breaks = { refund_mismatch: 1, state_mismatch: 2, unknown_status: 0 };
      const many = { missing_at_gateway: 4, amount_mismatch: 3, invalid_record: 2 };
      if (second) second.breaks = { state_mismatch: 3, currency_mismatch: 2, ...many };
    });
    expect(sentence).toContain(
      'differ, with 17 open breaks (5 state mismatch, 4 not at the gateway, 3 amount mismatch, 2 currency mismatch ' +
        'and 3 of other kinds);',
    );
  });

  test('tied out says how many orders were compared', () => {
    expect(night('tied_out', (summary) => summary.accounts.shift())).toBe(
      'Business date 2026-11-19 tied out: 1 order compared, no open difference.',
    );
  });

  test('incomplete names what is missing', () => {
    const sentence = night('incomplete', (summary) => {
      summary.pull.failedPages = 1;
      const [account] = summary.accounts;
      if (account) account.orders.notCompared = 100;
      if (account) account.instructions = { capture: { unknown: 2, queued: 1 } };
    });
    expect(sentence).toBe(
      'Business date 2026-11-19 is incomplete: 1 page failed, 100 orders not compared, ' +
        '1 instruction not sent yet and 2 orders differ; 2 instructions unknown (A1001).',
    );
  });

  test('of failed pages the sentence has what the gateway itself said, cut at a length', () => {
    const summary = { ...sampleSummary(), state: 'incomplete' as const };
    summary.pull.failedPages = 1;
    const page = { accountId: 'A1001', businessDate: '2026-11-19', pages: 1, orders: 40 };
    const said = `the gateway answered return_status 0: wrong signature`;
    for (const [reason, words] of [
      [said, said],
      [`${said} ${'x'.repeat(500)}`, `${said} ${'x'.repeat(66)}`],
      ['the answer has another shape: orders[3].amount', 'the answer has another shape'],
    ] as const) {
      summary.notices = [notAnsweredNotice({ ...page, reasons: [reason] })];
      expect(runSentence(summary)).toContain(`1 page failed (A1001: ${words})`);
    }
  });

  test('pages of the look after sending count with those of the first, and are told apart', () => {
    const summary = { ...sampleSummary(), state: 'incomplete' as const };
    const [account] = summary.accounts;
    if (account === undefined) throw new Error('the sample has no account');
    const date = { businessDate: '2026-11-19', reasons: ['the gateway answered HTTP 502'] };
    const later = { pages: 1, orders: 2 };
    const none = { ...date, pages: 0, orders: 0 };
    summary.accounts = ['A1', 'A2'].map((accountId) => ({ ...account, accountId }));
    Object.assign(summary.accounts[0] ?? {}, { failedLater: 1 });
    summary.pull.failedPages = 1;
    summary.notices = [
      notAnsweredNotice({ ...none, accountId: 'A1', later }),
      notAnsweredNotice({ ...none, accountId: 'A2', pages: 1, orders: 11 }),
    ];
    expect(runSentence(summary)).toContain(
      'is incomplete: 2 pages failed, 1 of them in the look after sending (A1 and A2: the ' +
        'gateway answered HTTP 502) and ',
    );
    expect(summary.notices.map(({ text }) => text.split('. When')[0])).toEqual([
      '1 page of the look after sending was not answered, with 2 orders: the gateway answered ' +
        'HTTP 502. What became of what was sent there is not shown yet',
      '1 page was not answered, with 11 orders: the gateway answered HTTP 502. Nothing is said ' +
        'of what stands there',
    ]);
    expect(runFinished(summary).details).toMatchObject({ failedPages: 1, failedLater: 1 });
    expect(summaryLines(summary).flat().join('')).toContain(
      ', 1 FAILED; 1 page of the look after sending FAILED',
    );
    summary.pull.failedPages = 0;
    expect(runSentence(summary)).toContain('1 page failed in the look after sending (A1');
  });

  test('of very many accounts each thing is said once, what failed first, and nothing is lost', () => {
    const summary = { ...sampleSummary(), state: 'incomplete' as const };
    const [first] = summary.accounts;
    if (first === undefined) throw new Error('the sample has no account');
    const ids = Array.from({ length: 600 }, (_, at) => `S${at + 1}`);
    summary.accounts = ids.map((accountId) => ({ ...first, accountId }));
    const moved = (accountId: string, part: Partial<typeof first>) => {
      const at = ids.indexOf(accountId);
      summary.accounts.splice(at, 1, { ...first, accountId, ...part });
    };
    moved('S190', { instructions: { capture: { unknown: 1 } } });
    moved('S444', { state: 'incomplete' });
    summary.pull.failedPages = 2;
    const page = { businessDate: '2026-11-19', pages: 1, orders: 40 };
    const reasons = ['the gateway answered return_status 0'];
    const stop = 'sending is stopped for account S9 by a person; to resume: tieout brake off';
    summary.notices = [
      ...ids.slice(0, 6).map(noOrdersNotice),
      ...ids.slice(0, 450).map((accountId) => noHistoryNotice({ accountId, instructions: 2 })),
      ...['S444', 'S300'].map((accountId) => notAnsweredNotice({ ...page, accountId, reasons })),
      ...[11, 12, 13, 14].map((breaks) =>
        leftAccountNotice({ accountId: `S7${breaks}`, states: { held: breaks }, breaks }),
      ),
      ...['S2', 'S10'].map((accountId) => notFinishedNotice(accountId, '2026-11-19')),
      notSentNotice({ accountId: 'S9', reason: 'x', instructions: 0, standing: stop }),
    ];
    const sentence = runSentence(summary);
    const parts = [
      'is incomplete: 2 pages failed (S300 and S444: the gateway answered return_status 0), ',
      'accounts S2 and S10 are not finished',
      'account S711 left the configuration with 11 held instructions, 11 open breaks',
      '1 more account like these',
      '; 1 instruction unknown (S190), not a single order of S1, S2, S3 and 3 more in the ledger',
      '900 instructions kept back (this database knows no earlier run of S1, S2, S3 and 447 more)',
      'sending is stopped for accounts S1, S2, S3 and 447 more: restore the database',
      `; ${stop}.`,
    ];
    const places = parts.map((part) => sentence.indexOf(part));
    expect([parts.filter((_, at) => places[at] === -1), sentence]).toEqual([[], sentence]);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    const { text, details } = runFinished(summary);
    expect(sentence.length).toBeLessThan(1_200);
    for (const part of [parts[0], parts[4], parts[6], parts[7]]) expect(text).toContain(part);
    expect((details.accounts as { accountId: string }[])[0]?.accountId).toBe('S444');
  });

  test('the print of very many accounts has those with something to do, and the others as one', () => {
    const summary = { ...sampleSummary(), notices: [] as NonNullable<RunSummary['notices']> };
    const [first] = summary.accounts;
    if (first === undefined) throw new Error('the sample has no account');
    const tie = { ...first.tie, new: 0, openAfter: 0, resolved: 3 };
    const well = { ...first, tie, state: 'tied_out' as const, breaks: {}, instructions: {} };
    const ids = Array.from({ length: 600 }, (_, at) => `S${at + 1}`);
    summary.accounts = ids.map((accountId, at) => ({ ...(at < 40 ? first : well), accountId }));
    const unknown = { ...well, instructions: { refund: { unknown: 2 } } };
    summary.accounts.push({ ...unknown, accountId: 'S601', state: 'broken' });
    summary.notices = ids.map(noOrdersNotice).slice(100, 200);
    const screen = { zone: 'UTC', hasColours: false };
    const printed = summaryLines(summary).map((line) => shownLine(line, screen));
    expect(printed.length).toBeLessThan(330);
    const text = printed.join('\n');
    // Money that nobody can say moved, what was not compared at all, then what merely differs.
    expect(text.match(/^Account .*$/gm)?.slice(0, 2)).toEqual([
      'Account S601: did not tie out',
      'Account S101: NO ORDERS in the ledger',
    ]);
    expect(text).toMatch(/\n {2}S200 +NO ORDERS in the ledger +0 open breaks *\n {2}S1 +did not/);
    expect(text).toMatch(/\n {2}S40 +did not tie out +2 open breaks +1 held/);
    expect(text).toMatch(
      /\n460 accounts with nothing to do: tied out\n {2}S41, S42, S43, S44, S45 and 455 more\n {2}5,060 orders/,
    );
    expect(text).toContain('captured');
    expect(text).toMatch(
      /\n {2}100 accounts \(S101, S102, S103, S104, S105 and 95 more\), such as S101: the ledger/,
    );
    expect(text).toContain('Each account: tieout runs show 2026-11-19 --json');
  });

  test('a code of the gateway is named where the profile gives it no meaning', () => {
    const notices = [
      { ...SEEN, word: '6500', meaning: 'partially_refunded' },
      { ...SEEN, word: '7777', meaning: null },
    ].map(codeNotice);
    // As an earlier version kept a code with a meaning.
    const kept = { ...notices[0], kind: 'new_word' } as (typeof notices)[number];
    const sentence = night('broken', (summary) => {
      summary.notices = [...notices, kept];
    });
    expect(sentence).toMatch(
      / and new at the gateway, without a meaning in the profile: payment_status 7777\.$/,
    );
    expect(notices.map(({ text }) => text)).toEqual([
      'status code seen for the first time, payment_status 6500: 1 entry, 12.340 KWD ' +
        '(such as ORD-1); it means partially refunded',
      expect.stringMatching(/^new status code of the gateway, .*; it has no meaning/),
    ]);
  });

  test.each([
    [
      'payment_status',
      '9',
      'it has no meaning in the profile: no money moves on it, and its orders',
    ],
    ['query_result', '0', 'it has no meaning in the profile: its orders are not compared'],
    [
      'query_result',
      '(number) 1',
      'it is no text, and has no meaning: its orders are not compared',
    ],
    ['capture_status', '99', 'profile: it is no acceptance, and what became of each is what the'],
    ['recurring_status', '9', 'it has no meaning in the profile'],
  ])('a new code of %s, %s, is told with what becomes of its orders', (field, word, words) => {
    expect(codeNotice({ ...SEEN, field, word, meaning: null }).text).toContain(words);
  });

  test.each(['running', 'failed'] as const)('%s promises nothing', (state) => {
    expect(night(state)).toMatch(/not (final|be relied on)/);
  });

  test('openAfter is what was open, new and reopened less what was waived and resolved', () => {
    const tie = { openBefore: 5, new: 4, reopened: 1, waived: 2, resolved: 3, openAfter: 99 };
    expect(workedOutOpenAfter(tie)).toBe(5);
  });
});

test('one order of one page is one', () => {
  const { accounts, ...summary } = sampleSummary();
  const tolerated = [{ currency: 'EUR', orders: 1, below: '0.01', above: '0.00', net: '-0.01' }];
  const lines = summaryLines({
    ...summary,
    pull: { ...summary.pull, asked: 1, pages: 1 },
    accounts: accounts.map((one) => ({ ...one, tolerated })),
  });
  const text = lines.flat().join('\n');
  expect(text).toMatch(/ 1 order asked in 1 page$/m);
  expect(text).toContain('Within tolerance: 1 order, ');
});
