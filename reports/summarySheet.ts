// The overview in the nightly workbook: the state of the run in one sentence, every order in
// one class, the breaks that must tie, the money. Each sum is a live formula with its value, and
// each check turns red by itself. Pure: it makes lines of cells; neighbours: reconciliation.ts
// writes them, totals.ts gives formulas over the other sheets.

import { INSTRUCTION_STATES } from '../src/core/instructions/instruction.js';
import { formatAmount } from '../src/core/money.js';
import type { MovedAfter } from '../src/core/runs/closingChecklist.js';
import { movedWords } from '../src/core/runs/closingChecklist.js';
import type { Notice } from '../src/core/runs/notices.js';
import type {
  AboutData,
  KindTie,
  MoneyTie,
  ReconciliationData,
} from '../src/core/runs/reporting.js';
import { workedOutStake } from '../src/core/runs/reporting.js';
import type { AccountSummary, Tie } from '../src/core/runs/summary.js';
import { ORDER_CLASSES, runSentence, workedOutOpenAfter } from '../src/core/runs/summary.js';
import { failedLater } from '../src/core/runs/unreadable.js';
import { counted } from '../src/core/text/amounts.js';
import { withoutCommands } from '../src/core/text/commandWords.js';
import { labelOf, stateLabel } from '../src/core/text/labels.js';
import { withZonedTimes } from '../src/core/text/zonedTimes.js';
import { BREAKS_SHEET } from './columns.js';
import { addCurrencies, addMoney } from './currencySections.js';
import { addPictureRoom, addPictures, pictureRows } from './pictures.js';
import type { RunFigures } from './runFigures.js';
import { keyOf } from './runFigures.js';
import type { NotSettled } from './statement/notSettled.js';
import { addNotSettled, notSettledSentences } from './statement/notSettled.js';
import { freeText, hundredthsOf, idText, wallClock, wallText } from './xlsx/cells.js';
import type { BarChart } from './xlsx/format/chart.js';
import type { OtherChecks, Page } from './xlsx/page.js';
import {
  addCheck,
  addColumnSums,
  addSection,
  addVerdict,
  addWide,
  count,
  emptyPage,
  endLines,
  formula,
  id,
  money,
  moneyFormula,
  settleVerdict,
  text,
} from './xlsx/page.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { matchingCount, matchingSum } from './xlsx/totals.js';

export const SUMMARY_NAME = 'Summary';
/** Title, environment and sentence stay in view; the first two are printed on every page. */
export const SUMMARY_FROZEN_ROWS = 3;
export const SUMMARY_REPEATED_ROWS = '1:2';

export const REACH = 'Orders to gateway, not reconciled to bank or acquirer statement.';

const SETTLEMENT_REACH =
  'Orders to gateway; what the acquirer settled stands in the settlement report, which the ' +
  'console makes under Settlement. Not reconciled to the bank.';

/** Said on every report: what this check does not reach. */
export function reachOf({ keepsSettlement }: AboutData): string {
  return keepsSettlement ? SETTLEMENT_REACH : REACH;
}

/** Where the rows of the other sheets stand, and what they come to. */
export interface OtherSheets {
  breaks: readonly Part[];
  moved: readonly Part[];
  figures: RunFigures;
  /** null: nobody keeps the books of settlement */
  notSettled: NotSettled | null;
  checks: OtherChecks;
}

export function summaryPage(
  data: ReconciliationData,
  others: OtherSheets,
): { page: Page; charts: readonly BarChart[] } {
  const page = emptyPage();
  addHeading(page, data, others);
  const pictureRow = addPictureRoom(page, pictureRows(data));
  addClasses(page, data.summary.accounts);
  addCurrencies(page, data);
  addTies(page, data.summary.accounts, others);
  addMoneyTies(page, data.tiesByMoney, others);
  addMoney(page, data, others);
  if (others.notSettled !== null) addNotSettled(page, others.notSettled);
  addInstructions(page, data.summary.accounts);
  addNotices(page, data.summary.notices ?? [], data.about);
  addCoverage(page, data);
  // The long lists come last: the first page is for those who read no further.
  addKindTies(page, data.tiesByKind, others);
  addOpenBreaks(page, data.summary.accounts, others);
  const { ages, stakes } = others.figures;
  const listed = { ages, stakes, parts: others.breaks };
  const charts = addPictures(page, SUMMARY_NAME, pictureRow, data, listed);
  return { page: settleVerdict(page, others.checks), charts };
}

function addHeading(
  page: Page,
  { summary, about, movedAfter }: ReconciliationData,
  { notSettled }: OtherSheets,
): void {
  const isLive = summary.environment === 'live';
  const asOf = wallText(wallClock(about.timezone), about.asOf);
  const covers = summary.covers.join(', ');
  const previous = about.previousRun === null ? 'no earlier run' : `after run ${about.previousRun}`;
  addWide(page, freeText(`Reconciliation ${summary.businessDate}`), STYLES.title);
  addWide(
    page,
    isLive ? 'LIVE environment: real money' : 'TEST environment: no real money',
    isLive ? STYLES.live : STYLES.test,
  );
  addWide(page, freeText(plainly(runSentence(summary), about)), STYLES.sentence);
  const reach =
    `Covers ${covers}; business day from ${about.cutOff} in ${about.timezone}; ` +
    `checked at ${asOf}; revision ${about.revision}, ${previous}.`;
  addWide(page, freeText(reach), STYLES.running);
  const lines =
    notSettled === null ? [reachOf(about)] : notSettledSentences(notSettled, about.businessDate);
  for (const line of lines) addWide(page, freeText(line), STYLES.quiet);
  for (const words of movedSince(movedAfter)) addWide(page, freeText(words), STYLES.running);
  addVerdict(page);
}

/** The figures of the run stay those of its end; what each account moved since is told. */
function movedSince(movedAfter: readonly MovedAfter[]): string[] {
  return [...new Set(movedAfter.map(({ accountId }) => accountId))].flatMap((accountId) =>
    movedWords(movedAfter.filter((one) => one.accountId === accountId)).map(
      (words) =>
        `${idText(accountId)}: moved ${words}. The sheet Waiting for you was read when ` +
        'this revision was written; this sheet tells what the run did, as it stood when the ' +
        'night ended.',
    ),
  );
}

/** For who has no shell, and reads the clock of the schedule. */
function plainly(words: string, { timezone }: AboutData): string {
  return withoutCommands(withZonedTimes(words, timezone));
}

const CLASS_HEADINGS = ['Matched', 'Explained', 'Due', 'Awaited', 'Differ', 'Not compared'];

function addClasses(page: Page, accounts: readonly AccountSummary[]): void {
  addSection(page, 'Orders: each is in exactly one class', [
    ['Account', 'State', 'Ledger', 'Not in ledger', ...CLASS_HEADINGS],
    ['Sum of classes', 'Difference', 'At the gateway'],
  ]);
  const first = page.lines.length + 1;
  for (const account of accounts) {
    const { orders } = account;
    const row = page.lines.length + 1;
    const classes = ORDER_CLASSES.map((name) => orders[name]);
    const sum = classes.reduce((total, count) => total + count, 0);
    const difference = orders.ledger + orders.strangers - sum;
    page.ties &&= difference === 0;
    page.lines.push([
      id(account.accountId),
      text(stateLabel(account.state)),
      ...[orders.ledger, orders.strangers, ...classes].map(count),
      formula(`SUM(E${row}:J${row})`, sum),
      formula(`C${row}+D${row}-K${row}`, difference),
      count(orders.gateway),
    ]);
  }
  addCheck(page, 'L', first);
  addColumnSums(page, first, 3, 13);
}

/** In words, such as what stops the sending or a ledger that is not whole. */
function addNotices(page: Page, notices: readonly Notice[], about: AboutData): void {
  if (notices.length === 0) return;
  page.lines.push([]);
  addWide(page, 'To be told', STYLES.section);
  page.sections.push(page.lines.length);
  for (const { accountId, text: words, names = [] } of notices) {
    addWide(
      page,
      freeText(`${accountId}: ${plainly(words, about)}`, [accountId, ...names]),
      STYLES.running,
    );
  }
}

const TIE_HEADINGS = ['Open before', 'New', 'Reopened', 'Waived', 'Resolved', 'Open after'];
const CHECK_HEADINGS = ['Worked out', 'Difference', 'Listed', 'Listed − open after'];

/** Checked twice: by what happened, and by the lines of the sheet Breaks. */
function addTies(page: Page, accounts: readonly AccountSummary[], others: OtherSheets): void {
  addSection(page, 'Breaks: open before + new + reopened − waived − resolved = open after', [
    ['Account', 'Kind', ...TIE_HEADINGS, ...CHECK_HEADINGS],
  ]);
  const first = page.lines.length + 1;
  for (const { accountId, tie } of accounts) {
    addTieLine(page, { accountId, kind: null, ...tie }, others);
  }
  addTieChecks(page, first);
  addColumnSums(page, first, 3, 12);
}

function addTieChecks(page: Page, first: number): void {
  addCheck(page, 'J', first);
  addCheck(page, 'L', first);
}

function addKindTies(page: Page, ties: readonly KindTie[], others: OtherSheets): void {
  if (ties.length === 0) return;
  addSection(page, 'Breaks by kind', [['Account', 'Kind', ...TIE_HEADINGS, ...CHECK_HEADINGS]]);
  const first = page.lines.length + 1;
  for (const tie of ties) addTieLine(page, tie, others);
  addTieChecks(page, first);
}

function addTieLine(
  page: Page,
  { accountId, kind, ...tie }: Tie & { accountId: string; kind: string | null },
  { breaks: parts, figures }: OtherSheets,
): void {
  const row = page.lines.length + 1;
  const workedOut = workedOutOpenAfter(tie);
  const listed = figures.openByKind.get(keyOf(accountId, kind)) ?? 0;
  page.ties &&= workedOut === tie.openAfter && listed === tie.openAfter;
  const keys = { account_id: `$A${row}`, ...(kind === null ? {} : { kind: `$B${row}` }) };
  page.lines.push([
    id(accountId),
    text(kind === null ? 'all kinds' : labelOf(kind)),
    ...tieFigures(tie).map(count),
    formula(`C${row}+D${row}+E${row}-F${row}-G${row}`, workedOut),
    formula(`I${row}-H${row}`, workedOut - tie.openAfter),
    formula(matchingCount(BREAKS_SHEET, parts, keys), listed),
    formula(`K${row}-H${row}`, listed - tie.openAfter),
  ]);
}

function tieFigures<T>(tie: Record<keyof Tie, T>): T[] {
  return [tie.openBefore, tie.new, tie.reopened, tie.waived, tie.resolved, tie.openAfter];
}

function addMoneyTies(
  page: Page,
  ties: readonly MoneyTie[],
  { breaks: parts, figures }: OtherSheets,
): void {
  if (ties.length === 0) return;
  addSection(page, 'Breaks in money, by currency: what they opened with, until they are resolved', [
    ['Account', 'Currency', ...TIE_HEADINGS, ...CHECK_HEADINGS],
  ]);
  const first = page.lines.length + 1;
  for (const tie of ties) {
    const row = page.lines.length + 1;
    const typed = tieFigures<string>({ ...tie });
    const workedOut = workedOutStake(tie);
    const openAfter = hundredthsOf(tie.openAfter);
    const { sum, tooLong } = figures.opened.get(keyOf(tie.accountId, tie.currency)) ?? NOTHING;
    page.ties &&= workedOut === openAfter && sum === openAfter;
    const style = moneyStyle(tie.currency, [...typed, formatAmount(sum)]);
    const listed = tooLong === null ? [] : [tooLong];
    const all = [...typed, ...listed];
    const keys = { account_id: `$A${row}`, currency: `$B${row}` };
    const tieFormula = `ROUND(C${row}+D${row}+E${row}-F${row}-G${row},2)`;
    const onSheet = matchingSum(BREAKS_SHEET, parts, 'opened_with', keys);
    page.lines.push([
      id(tie.accountId),
      text(tie.currency),
      ...typed.map((amount) => money(amount, style)),
      moneyFormula(tieFormula, workedOut, typed, style),
      moneyFormula(`ROUND(I${row}-H${row},2)`, workedOut - openAfter, typed, style),
      moneyFormula(onSheet, sum, listed, style),
      moneyFormula(`ROUND(K${row}-H${row},2)`, sum - openAfter, all, style),
    ]);
  }
  addTieChecks(page, first);
}

const NOTHING = { sum: 0n, tooLong: null };

function addOpenBreaks(
  page: Page,
  accounts: readonly AccountSummary[],
  { breaks: parts, figures }: OtherSheets,
): void {
  addSection(page, 'Open breaks, against the sheet Breaks', [
    ['Account', 'Kind', 'Open', 'Listed', 'Difference'],
  ]);
  const first = page.lines.length + 1;
  for (const account of accounts) {
    for (const [kind, open] of Object.entries(account.breaks).sort()) {
      if (!open) continue;
      const row = page.lines.length + 1;
      const listed = figures.openByKind.get(keyOf(account.accountId, kind)) ?? 0;
      page.ties &&= listed === open;
      const keys = { account_id: `$A${row}`, kind: `$B${row}` };
      page.lines.push([
        id(account.accountId),
        text(labelOf(kind)),
        count(open),
        formula(matchingCount(BREAKS_SHEET, parts, keys), listed),
        formula(`C${row}-D${row}`, open - listed),
      ]);
    }
  }
  endLines(page, first, 'E');
}

function addInstructions(page: Page, accounts: readonly AccountSummary[]): void {
  addSection(page, 'Instructions: the state of each at the end', [
    [
      'Account',
      'Operation',
      'Carried in',
      ...INSTRUCTION_STATES.map((state) => capitalised(stateLabel(state))),
      'All',
    ],
  ]);
  const first = page.lines.length + 1;
  for (const account of accounts) {
    for (const [operation, states] of Object.entries(account.instructions).sort()) {
      const row = page.lines.length + 1;
      const counts = ['carried', ...INSTRUCTION_STATES].map((state) => states?.[state] ?? 0);
      const all = counts.slice(1).reduce((sum, figure) => sum + figure, 0);
      page.lines.push([
        id(account.accountId),
        text(operation),
        ...counts.map(count),
        formula(`SUM(D${row}:L${row})`, all),
      ]);
    }
  }
  endLines(page, first, null);
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function addCoverage(page: Page, { summary }: ReconciliationData): void {
  const { pull } = summary;
  addSection(page, 'What was asked of the gateway', [
    ['Account', '', 'Pages', 'Pages that failed', 'Asked', 'Answered', 'Unanswered', 'Unasked'],
  ]);
  const figures = [pull.pages, pull.failedPages, pull.asked, pull.answered, pull.unanswered];
  page.lines.push([text('all accounts'), text(''), ...[...figures, pull.unasked].map(count)]);
  const later = failedLater(summary);
  if (later > 0) {
    const words = `Beside these: ${counted(later, 'page')} of the look after sending failed.`;
    addWide(page, words, STYLES.running);
  }
  for (const { accountId, notSearched } of summary.accounts) {
    if (notSearched.length === 0) continue;
    const kinds = notSearched.map(labelOf).join(', ');
    const words = `Account ${idText(accountId)}: this way of asking cannot find "${kinds}".`;
    addWide(page, freeText(words, [accountId]), STYLES.running);
  }
}
