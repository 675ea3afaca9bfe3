// The summary of a run as a person reads it: one sentence, then counts, money by currency, what
// waits for whom, and where the files lie. Figures come from the summary and nowhere else.

import { alikeLines, areMany, byName, firstNamed, whoseLine } from '../../core/accounts/alike.js';
import { shownState, thatSimplyTie, toDoFirst, withoutOrders } from '../../core/accounts/toDo.js';
import { moneyOf } from '../../core/alertMessages.js';
import { coverageText } from '../../core/orders/coverage.js';
import type { AccountSummary, RunSummary } from '../../core/runs/summary.js';
import { ORDER_CLASSES, runSentence } from '../../core/runs/summary.js';
import { failedLater } from '../../core/runs/unreadable.js';
import { amountIn, counted, countText, moneyIn } from '../../core/text/amounts.js';
import { classLabel, labelOf, stateLabel } from '../../core/text/labels.js';
import type { Line, Part } from '../terminal.js';
import { columns, stateWord } from '../terminal.js';

const RULE = '─'.repeat(72);

export function summaryLines(summary: RunSummary): Line[] {
  const lines: Line[] = [
    RULE,
    stateWord(summary.state, runSentence(summary)),
    `${summary.environment.toUpperCase()} · checked at ${summary.asOf} · ${pullLine(summary)}`,
    RULE,
  ];
  if (areMany(summary.accounts)) {
    lines.push(...manyLines(summary));
  } else {
    for (const account of summary.accounts) lines.push(...accountLines(account, summary));
  }
  if (summary.notices && summary.notices.length > 0) {
    lines.push('To be told');
    const told = alikeLines(summary.notices);
    lines.push(...told.map((line) => `  ${whoseLine(line)}: ${line.first.text}`), '');
  }
  const { reports, unwritten = [] } = summary;
  if (reports.length + unwritten.length > 0) {
    lines.push('Files');
    for (const report of reports) lines.push(`  ${report.kind.padEnd(15)} ${report.path}`);
    for (const { kind, reason } of unwritten) {
      const text = `  ${kind.padEnd(15)} NOT WRITTEN for this look: ${reason}`;
      lines.push({ text, tone: 'bad' });
    }
  }
  return lines;
}

/** Of very many accounts in full; the others that ask something of somebody are a line each. */
const IN_FULL_MAX = 10;

/** Those with something to do first; what simply ties is said of all of them together. */
function manyLines(summary: RunSummary): Line[] {
  const tied = thatSimplyTie(summary);
  const simple = new Set(tied);
  const asking = summary.accounts.filter((one) => !simple.has(one));
  const others = toDoFirst(asking, summary);
  const empty = withoutOrders(summary);
  const rows = others.slice(IN_FULL_MAX).map((one): Part[] => {
    const { accountId, tie, orders } = one;
    const { state, words } = shownState(one.state, empty.has(accountId));
    const waits = sumOf(one, 'held');
    const unknown = sumOf(one, 'unknown');
    return [
      ...[accountId, stateWord(state, words), counted(tie.openAfter, 'open break')],
      waits === 0 ? '' : `${countText(waits)} held`,
      unknown === 0 ? '' : stateWord('unknown', `${countText(unknown)} UNKNOWN`),
      orders.notCompared === 0 ? '' : `${countText(orders.notCompared)} not compared`,
    ];
  });
  return [
    ...others.slice(0, IN_FULL_MAX).flatMap((one) => accountLines(one, summary)),
    ...(rows.length === 0 ? [] : ['More accounts', ...indented(columns(rows)), '']),
    ...tiedLines(tied),
    `Each account: tieout runs show ${summary.businessDate} --json`,
    '',
  ];
}

function tiedLines(tied: readonly AccountSummary[]): Line[] {
  if (tied.length === 0) return [];
  const orders = tied.reduce((sum, one) => sum + one.orders.ledger + one.orders.strangers, 0);
  const names = firstNamed(tied.map(({ accountId }) => accountId).sort(byName));
  return [
    [
      `${counted(tied.length, 'account')} with nothing to do: `,
      stateWord('tied_out', stateLabel('tied_out')),
    ],
    `  ${names}`,
    `  ${counted(orders, 'order')} compared, no open difference, nothing waits for a person`,
    ...moneyLines({ totals: moneyOf({ accounts: [...tied] }) }),
    '',
  ];
}

function sumOf({ instructions }: AccountSummary, state: string): number {
  return Object.values(instructions).reduce((sum, states) => sum + (states?.[state] ?? 0), 0);
}

function indented(lines: readonly Line[]): Line[] {
  return lines.map((line) => ['  ', line].flat());
}

function pullLine(summary: RunSummary): string {
  const { pull } = summary;
  const failed = pull.failedPages > 0 ? `, ${pull.failedPages} FAILED` : '';
  const later = failedLater(summary);
  const after = later > 0 ? `; ${counted(later, 'page')} of the look after sending FAILED` : '';
  return `${counted(pull.asked, 'order')} asked in ${counted(pull.pages, 'page')}${failed}${after}`;
}

function accountLines(
  account: AccountSummary,
  { coverage = [], notices = [] }: RunSummary,
): Line[] {
  const mine = notices.filter(({ accountId }) => accountId === account.accountId);
  const isEmpty = withoutOrders({ notices: mine }).has(account.accountId);
  const { state, words } = shownState(account.state, isEmpty);
  const lines: Line[] = [[`Account ${account.accountId}: `, stateWord(state, words)]];
  const covered = coverage.find((one) => one.accountId === account.accountId);
  if (covered) lines.push(`  Coverage: ${coverageText(covered)}`);
  const classes = ORDER_CLASSES.filter((name) => account.orders[name] > 0);
  lines.push(
    ...table(classes.map((name) => [classLabel(name), countText(account.orders[name])] as const)),
  );
  const breaks = Object.entries(account.breaks).filter(([, count]) => (count ?? 0) > 0);
  if (breaks.length > 0) {
    lines.push('  Open breaks');
    lines.push(
      ...table(
        breaks.map(([kind, count]) => [`  ${labelOf(kind)}`, countText(count ?? 0)] as const),
      ),
    );
  }
  for (const sum of account.tolerated ?? []) {
    const below = moneyIn(sum.below, sum.currency);
    lines.push(
      `  Within tolerance: ${counted(sum.orders, 'order')}, ${below} too little ` +
        `and ${amountIn(sum.above, sum.currency)} too much at the gateway ` +
        '(tieout breaks list --explained)',
    );
  }
  const { tie } = account;
  lines.push(`  Tie: ${tieText(tie)}`);
  const keptBack = mine.find(({ kind }) => kind === 'no_history')?.instructions ?? 0;
  lines.push(...instructionLines(account, keptBack), ...moneyLines(account));
  if (account.notSearched.length > 0) {
    lines.push(`  Not searched: ${account.notSearched.map(labelOf).join(', ')}`);
  }
  return [...lines, ''];
}

/** How the breaks that were open before became those that are open now. */
export function tieText(tie: AccountSummary['tie']): string {
  const { openBefore, new: opened, reopened, waived, resolved, openAfter } = tie;
  return (
    `${countText(openBefore)} open before + ${countText(opened)} new + ` +
    `${countText(reopened)} reopened - ${countText(waived)} waived - ` +
    `${countText(resolved)} resolved = ${countText(openAfter)} open`
  );
}

function instructionLines(account: AccountSummary, keptBack: number): Line[] {
  const lines: Line[] = [];
  const { heldBySetting = {} } = account;
  for (const [operation, states] of Object.entries(account.instructions)) {
    const parts = Object.entries(states ?? {})
      .flatMap(([state, count = 0]) => heldApart(state, count, heldBySetting[operation] ?? 0))
      .filter(([state, count]) => state !== 'carried' && count > 0)
      .flatMap(([state, count, words = STATE_WORDS[state] ?? state]): Part[] => [
        ', ',
        stateWord(state, `${countText(count)} ${words}`),
      ]);
    if (parts.length > 0) lines.push([`    ${operation.padEnd(8)} `, ...parts.slice(1)]);
  }
  if (keptBack > 0) {
    lines.push(
      `    of these ${keptBack} kept back: no earlier run is known, and no approval helps`,
    );
  }
  return lines.length > 0 ? ['  Instructions', ...lines] : [];
}

/** A person is asked for no more than what an approval frees. */
function heldApart(
  state: string,
  count: number,
  bySetting: number,
): [state: string, count: number, words?: string][] {
  if (state !== 'held') return [[state, count]];
  return [
    [state, count - bySetting],
    [state, bySetting, 'held by a setting: no approval frees it'],
  ];
}

/** Says whose turn it is. */
const STATE_WORDS: Record<string, string> = {
  held: 'waiting for approval',
  unknown: 'UNKNOWN: a person must find out',
  accepted: 'accepted, not yet shown',
  queued: 'queued, not sent yet',
};

function moneyLines(account: Pick<AccountSummary, 'totals'>): Line[] {
  if (account.totals.length === 0) return [];
  const isPaid = account.totals.some(({ paidOut }) => paidOut !== undefined);
  const head = ['', 'captured', 'cancelled', 'refunded', 'net', 'unknown'];
  const hasFees = account.totals.some(({ payoutFees }) => payoutFees !== undefined);
  if (isPaid) head.push('payouts made');
  if (hasFees) head.push('payout fees');
  const rows = account.totals.map((row) => {
    const amounts = [row.captured, row.cancelled, row.refunded, row.net, row.unknown];
    if (isPaid) amounts.push(row.paidOut ?? '0.00');
    if (hasFees) amounts.push(row.payoutFees ?? '0.00');
    return [row.currency, ...amounts.map((amount) => amountIn(amount, row.currency))];
  });
  const figures = head.map((_name, at) => at);
  const table = columns([head, ...rows], figures).map((line) => ['    ', line].flat());
  return ['  Money confirmed in this run', ...table];
}

function table(rows: readonly (readonly [string, string])[]): Line[] {
  return indented(columns(rows, [1]));
}
