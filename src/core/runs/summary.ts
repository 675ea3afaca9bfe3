// The summary of a run: the JSON of docs/CONTRACT.md section 7 as a type, and the run in one
// sentence. Whoever prints, stores or reports figures of a run uses this shape and no other. Pure:
// nothing is counted here, the figures come from the store. Neighbours: reporting.ts, labels.ts.

import { inSentence, joinParts, phrasesOf, reasonsOf } from '../accounts/alike.js';
import type { AnswerDrift } from '../drift/driftWords.js';
import type { CoverageFigures } from '../orders/coverage.js';
import { counted, countText, moreOf } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';
import type { Notice } from './notices.js';
import { failedPagesWords } from './unreadable.js';

/** What a run, or one account of it, has come to. */
export const RUN_STATES = ['running', 'tied_out', 'broken', 'incomplete', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Nothing of it is left to be done by doing it again. */
export function isFinished(state: RunState): boolean {
  return state === 'tied_out' || state === 'broken';
}

/**
 * Incomplete by nothing but accounts that left the configuration: people settle what they left, and
 * no further look of ours does.
 */
export function isLeftAlone({ state, accounts, notices = [] }: RunSummary): boolean {
  const kinds = new Set(notices.map(({ kind }) => kind));
  if (state !== 'incomplete' || !kinds.has('left_account') || kinds.has('not_finished')) {
    return false;
  }
  const left = notices.filter(({ kind }) => kind === 'left_account');
  return accounts.every(
    (account) =>
      isFinished(account.state) || left.some(({ accountId }) => accountId === account.accountId),
  );
}

/** Each order of a run is in exactly one of these; in the order in which they are shown. */
export const ORDER_CLASSES = [
  'matched',
  'explained',
  'due',
  'awaited',
  'broken',
  'notCompared',
] as const;
export type OrderClass = (typeof ORDER_CLASSES)[number];

const SEVERITY: readonly RunState[] = ['tied_out', 'broken', 'incomplete', 'running', 'failed'];

/** What something has come to whose parts came to these. */
export function worstOf(states: readonly RunState[]): RunState {
  return SEVERITY.findLast((state) => states.includes(state)) ?? 'tied_out';
}

export interface PullFigures {
  pages: number;
  failedPages: number;
  asked: number;
  answered: number;
  unanswered: number;
  unasked: number;
}

export type OrderFigures = { ledger: number; strangers: number; gateway: number } & Record<
  OrderClass,
  number
>;

/** openBefore + new + reopened - waived - resolved = openAfter */
export interface Tie {
  openBefore: number;
  new: number;
  reopened: number;
  waived: number;
  resolved: number;
  openAfter: number;
}

/** By operation, then by state of the instruction or `carried`; zeros may be left out. */
type InstructionFigures = Partial<Record<string, Partial<Record<string, number>>>>;

/** Money confirmed in the run, as text; `unknown` is in no other column. */
export interface CurrencyTotals {
  currency: string;
  captured: string;
  cancelled: string;
  refunded: string;
  net: string;
  unknown: string;
  /** Payouts, whose unit is known; left out where there are none, and never in `net`. */
  paidOut?: string;
  /** What payouts cost, in the currency of the fee; left out where it was nothing. */
  payoutFees?: string;
}

/** What the tolerance swallowed in one currency; `net` is gateway minus ledger. */
interface Tolerated {
  currency: string;
  orders: number;
  below: string;
  above: string;
  net: string;
}

export interface AccountSummary {
  accountId: string;
  state: RunState;
  /** Pages of the looks after sending that failed; `pull` counts those of the first look alone. */
  failedLater?: number;
  orders: OrderFigures;
  /** Open at the end, by kind; zeros may be left out. */
  breaks: Partial<Record<string, number>>;
  /** Kinds of break that this way of asking cannot find. */
  notSearched: string[];
  tie: Tie;
  instructions: InstructionFigures;
  /**
   * Of those that are held, by operation: what no approval frees, only a setting or a corrected
   * request. Left out where there is none.
   */
  heldBySetting?: Partial<Record<string, number>>;
  totals: CurrencyTotals[];
  /** Differences within the tolerance, which are no breaks; left out where there are none. */
  tolerated?: Tolerated[];
}

export interface ReportFile {
  kind: string;
  format: string;
  path: string;
  sha256: string;
  revision: number;
}

export interface UnwrittenReport {
  kind: string;
  reason: string;
}

/** One thing that a run would do now. */
export interface WouldDo {
  accountId: string;
  /** empty for a payout */
  orderNo: string;
  refundId: string | null;
  operation: string;
  amount: string;
  currency: string;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  /** send: it would go; wait: it would be held for the reason */
  next: 'send' | 'wait';
  reason: string | null;
}

export interface RunSummary {
  run: string;
  businessDate: string;
  covers: string[];
  /** The time of the snapshot, RFC 3339 in UTC. */
  asOf: string;
  environment: 'test' | 'live';
  state: RunState;
  pull: PullFigures;
  accounts: AccountSummary[];
  /**
   * What the gateway said of the orders, by account: of this snapshot alone, so that it may change.
   */
  coverage?: (CoverageFigures & { accountId: string })[];
  reports: ReportFile[];
  /** Of this snapshot and not written: of them `reports` has an older revision, or none. */
  unwritten?: UnwrittenReport[];
  /** What a person has to be told beside the figures; left out where there is nothing. */
  notices?: Notice[];
  /** Fields of the gateway's answers that are not what they were; left out where all are. */
  drift?: AnswerDrift[];
  /** Of a dry run alone: nothing of it was done. */
  wouldDo?: WouldDo[];
}

/** What openAfter has to be; the run ties when it is. */
export function workedOutOpenAfter(tie: Tie): number {
  return tie.openBefore + tie.new + tie.reopened - tie.waived - tie.resolved;
}

/** The run in one sentence, for a person who reads nothing else. */
export function runSentence(summary: RunSummary): string {
  const date = `Business date ${summary.businessDate}`;
  const orders = ordersLookedAt(summary);
  const broken = sumOrders(summary, 'broken');
  const tail = `${waitingPart(summary)}${standingPart(summary)}`;
  switch (summary.state) {
    case 'running':
      return `${date} is still being worked on; these figures are not final.`;
    case 'failed':
      return `${date} failed; these figures must not be relied on.`;
    case 'incomplete':
      return `${date} is incomplete: ${joinParts(incompleteParts(summary, broken))}${tail}.`;
    case 'broken':
      return `${date} did not tie out: ${brokenPart(summary, broken, orders)}${tail}.`;
    case 'tied_out':
      if (comparedNothing(summary)) return `${date} compared NOTHING${tail}.`;
      return `${date} tied out: ${counted(orders, 'order')} compared, no open difference${tail}.`;
  }
}

/** Nothing differs, since there is nothing that could. */
export function comparedNothing(summary: RunSummary): boolean {
  return ordersLookedAt(summary) === 0 && noticesOf(summary, 'no_orders').length > 0;
}

function brokenPart(summary: RunSummary, broken: number, orders: number): string {
  const kinds = new Map<string, number>();
  for (const account of summary.accounts) {
    for (const [kind, count] of Object.entries(account.breaks)) {
      if (count) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    }
  }
  // Something else may be what is broken: a request of an account that is not configured.
  const verb = broken < 2 ? 'differs' : 'differ';
  const some = broken === 0 ? 'none' : countText(broken);
  const differ = `${some} of ${counted(orders, 'order')} ${verb}`;
  if (kinds.size === 0) return differ;
  // An order may have several breaks, and a batch or a payout has one without an order.
  const open = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const breaks = open === broken ? '' : `, with ${counted(open, 'open break')}`;
  return `${differ}${breaks} (${joinParts(kindParts(kinds))})`;
}

/** A sentence with more kinds than this is not read any more. */
const KINDS_NAMED_MAX = 4;

/** The most frequent kinds by name, the rest as one number. */
function kindParts(kinds: ReadonlyMap<string, number>): string[] {
  const sorted = [...kinds].sort(([kindA, a], [kindB, b]) => b - a || (kindA < kindB ? -1 : 1));
  const named = sorted.slice(0, KINDS_NAMED_MAX);
  const others = sorted.slice(KINDS_NAMED_MAX);
  const parts = named.map(([kind, count]) => `${countText(count)} ${labelOf(kind)}`);
  if (others.length === 0) return parts;
  const rest = others.reduce((sum, [, count]) => sum + count, 0);
  return [
    ...parts,
    `${countText(rest)} of ${others.length === 1 ? 'another kind' : 'other kinds'}`,
  ];
}

function incompleteParts(summary: RunSummary, broken: number): string[] {
  const notCompared = sumOrders(summary, 'notCompared');
  const moving = sumInstructions(summary, 'planned') + sumInstructions(summary, 'queued');
  const sending = sumInstructions(summary, 'sending');
  // No look shows a payout: what became of one, a person says.
  const accepted = sumInstructions(summary, 'accepted') - pendingPayouts(summary);
  const feeds = phrasesOf(noticesOf(summary, 'ledger_feed'));
  const areFeeds = feeds.length > 1 ? 'are' : 'is';
  const parts = [
    failedPart(summary),
    notCompared > 0 ? `${counted(notCompared, 'order')} not compared` : '',
    comparedNothing(summary) ? 'it compared NOTHING' : '',
    ...phrasesOf(noticesOf(summary, 'not_finished')),
    feeds.length > 0 ? `${joinParts(feeds)} ${areFeeds} not known to be whole` : '',
    ...phrasesOf(noticesOf(summary, 'left_account')),
    moving > 0 ? `${counted(moving, 'instruction')} not sent yet${stopPart(summary)}` : '',
    sending > 0 ? `${counted(sending, 'instruction')} being sent, with no end yet` : '',
    accepted > 0 ? `${counted(accepted, 'instruction')} accepted and not shown yet` : '',
    broken > 0 ? `${counted(broken, 'order')} ${broken === 1 ? 'differs' : 'differ'}` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts : ['something of it is still open'];
}

/** In parentheses: what stops them, but for what the sentence ends with. */
function stopPart(summary: RunSummary): string {
  const passing = noticesOf(summary, 'not_sent').filter(({ standing }) => standing === undefined);
  return passing.length === 0 ? '' : ` (${phrasesOf(passing).join('; ')})`;
}

/** What harms most comes first: a message is cut at its end. */
function waitingPart(summary: RunSummary): string {
  const kept = noticesOf(summary, 'no_history');
  const keptBack = kept.reduce((sum, { instructions = 0 }) => sum + instructions, 0);
  const bySetting = Math.max(sumHeldBySetting(summary), keptBack);
  const toApprove = sumInstructions(summary, 'held') - bySetting;
  const fixed = bySetting - keptBack;
  const phrases = (kind: Notice['kind']) => phrasesOf(noticesOf(summary, kind));
  const parts = [
    unknownPart(summary),
    ...phrases('unexplained'),
    ...(summary.state === 'incomplete' ? [] : phrases('left_account')),
    ...phrases('no_orders'),
    ...phrases('unusable_rows'),
    ...phrases('strange_account'),
    ...phrases('strange_orders'),
    ...phrases('payouts_left_out'),
    ...keptBackParts(kept, keptBack),
    toApprove > 0 ? `${counted(toApprove, 'instruction')} waiting for approval` : '',
    fixed > 0 ? `${counted(fixed, 'instruction')} held by a setting` : '',
    rejectedPayoutPart(summary),
    newCodePart(summary),
    changedAnswerPart(summary),
    unwrittenPart(summary),
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `; ${joinParts(parts)}`;
}

/** With its accounts: somebody has to find out at the gateway. */
function unknownPart(summary: RunSummary): string {
  const unknown = sumInstructions(summary, 'unknown');
  const some = summary.accounts.filter(
    (one) => sumInstructions({ accounts: [one] }, 'unknown') > 0,
  );
  const of =
    summary.accounts.length > 1 ? ` (${inSentence(some.map((one) => one.accountId))})` : '';
  return unknown > 0 ? `${counted(unknown, 'instruction')} unknown${of}` : '';
}

function keptBackParts(kept: readonly Notice[], keptBack: number): string[] {
  const [back, none] = [true, false].map((isBack) =>
    phrasesOf(kept.filter(({ instructions = 0 }) => instructions > 0 === isBack)).join('; '),
  );
  return [
    back ? `${counted(keptBack, 'instruction')} kept back (${back})` : '',
    none ? `nothing may be sent (${none})` : '',
  ];
}

/** Also where nothing waits: whoever is told that a night tied out has to know of it. */
export function standingPart({ notices = [] }: RunSummary): string {
  const told = notices.flatMap(({ standing: about, ...one }) => (about ? { ...one, about } : []));
  return told.length === 0 ? '' : `; ${phrasesOf(told).join('; ')}`;
}

/** One whose request has left the ledger since has no break: nothing else would say it. */
function rejectedPayoutPart(summary: RunSummary): string {
  const some = summary.accounts.filter(({ breaks }) => !breaks.payout_rejected);
  const rejected = some.reduce((sum, one) => sum + (one.instructions.payout?.rejected ?? 0), 0);
  return rejected > 0 ? `${counted(rejected, 'payout')} rejected` : '';
}

/** A sentence with more codes than this is not read any more. */
const WORDS_NAMED_MAX = 3;

/** Why pages failed, and of whom: one line is all that many people read. */
function failedPart(summary: RunSummary): string {
  const pages = failedPagesWords(summary);
  const failed = noticesOf(summary, 'not_answered');
  const reasons = summary.accounts.length > 1 ? reasonsOf(failed) : phrasesOf(failed);
  return pages === '' || failed.length === 0 ? pages : `${pages} (${reasons.join('; ')})`;
}

/** What the profile knows the meaning of asks nobody to do anything. */
function newCodePart(summary: RunSummary): string {
  // Nights of before have codes with a meaning among these.
  const told = noticesOf(summary, 'new_word').filter(
    ({ text }) => !/; it means [^;()]+$/.test(text),
  );
  const words = [...new Set(told.map(({ about }) => about))];
  if (words.length === 0) return '';
  const named = words.slice(0, WORDS_NAMED_MAX);
  const more = moreOf(words.length - named.length);
  return `new at the gateway, without a meaning in the profile: ${[...named, ...more].join(', ')}`;
}

function changedAnswerPart(summary: RunSummary): string {
  return joinParts(phrasesOf(noticesOf(summary, 'answer_changed')));
}

/** The run itself is complete: nobody goes on with it by himself. */
function unwrittenPart({ businessDate, unwritten = [] }: RunSummary): string {
  if (unwritten.length === 0) return '';
  const reasons = [...new Set(unwritten.map(({ reason }) => reason))].join('; ');
  const cure = `when that is mended: \`tieout run --date ${businessDate}\``;
  return `${counted(unwritten.length, 'report')} that could not be written (${reasons}; ${cure})`;
}

function noticesOf(summary: RunSummary, kind: Notice['kind']): Notice[] {
  return (summary.notices ?? []).filter((notice) => notice.kind === kind);
}

/** Of the ledger, and those that the gateway alone has. */
export function ordersLookedAt(run: RunSummary): number {
  return sumOrders(run, 'ledger') + sumOrders(run, 'strangers');
}

function sumOrders(summary: RunSummary, figure: keyof OrderFigures): number {
  return summary.accounts.reduce((sum, account) => sum + account.orders[figure], 0);
}

function sumInstructions({ accounts }: Pick<RunSummary, 'accounts'>, state: string): number {
  const counts = accounts.flatMap(({ instructions }) => Object.values(instructions));
  return counts.reduce<number>((sum, states) => sum + (states?.[state] ?? 0), 0);
}

function pendingPayouts({ accounts }: RunSummary): number {
  return accounts.reduce((sum, one) => sum + (one.instructions.payout?.accepted ?? 0), 0);
}

function sumHeldBySetting({ accounts }: RunSummary): number {
  const counts = accounts.flatMap(({ heldBySetting = {} }) => Object.values(heldBySetting));
  return counts.reduce<number>((sum, count = 0) => sum + count, 0);
}
