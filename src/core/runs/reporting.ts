// The rows that reports are made of: what the store reads and what reports/ writes. Plain data, no
// rules. Amounts are text of the printed shape ("12.34", a difference may be negative) so that no
// float can creep in between database and file; instants are Date; a business date is its text.
// Neighbours: summary.ts (the figures of a run), reports/columns.ts (how each row is shown).

import type { ChangedBreak, ComparedWith, OpenBefore } from '../breaks/change.js';
import type { RowBinding } from '../decisions/rowBinding.js';
import { type Hundredths, parseSum } from '../money.js';
import type { Signing } from './businessDay.js';
import type { MovedAfter } from './closingChecklist.js';
import type { RevisionFigures } from './sinceClosed.js';
import type { Statement, StatementLine } from './statement.js';
import type { BookLine } from './statementBooks.js';
import type { OrderClass, RunSummary, Tie } from './summary.js';

/** A row about which a decision may come back in the workbook. */
interface DecidableRow {
  /** Absent or null: nothing can be decided about it. */
  binding?: RowBinding | null;
  /** The same as the workbook carries it, with the seal over what its cells show. */
  sealed?: string;
}

/** One break of the run, open or waived; text is as stored and is masked only when it is shown. */
export interface BreakRow extends DecidableRow {
  /** Its number in the console and in commands. */
  breakId: string | null;
  accountId: string;
  orderNo: string;
  kind: string;
  state: string;
  /** The difference in one sentence that a person understands. */
  sentence: string;
  expected: string;
  actual: string;
  currency: string | null;
  /** Gateway minus ledger; null where the difference is not one of money. */
  difference: string | null;
  /** The money in it as it stands. */
  stake: string | null;
  /** What it opened with: so much of it is in the tie until it is resolved. */
  opened: string | null;
  /** What each side shows, where it shows an amount. */
  ledgerAmount: string | null;
  gatewayAmount: string | null;
  gatewayCurrency: string | null;
  firstSeen: Date;
  ageDays: number;
  /** By when somebody has to act, a date; null where it is not shown. */
  due: string | null;
  isOverdue: boolean;
  owner: string | null;
  note: string | null;
  /** A waiver of what it says now, that waits for a second person; null: none does. */
  waiverAskedBy: string | null;
  waiverAskedReason: string | null;
  transactionId: string | null;
  /** All that its sentence may name. */
  transactions: readonly string[];
}

/** One instruction: money that moved, was refused, or still waits. */
export interface InstructionRow extends DecidableRow {
  instructionId: string;
  accountId: string;
  orderNo: string;
  refundId: string | null;
  /** capture | cancel | refund | review | payout */
  operation: string;
  /** The instruction's state: confirmed, held, unknown ... */
  state: string;
  currency: string | null;
  /** Null for a review, which moves no money. */
  amount: string | null;
  transactionId: string | null;
  gatewayReference: string | null;
  /** Of a refund, beside it. */
  refundReference: string | null;
  gatewayMessage: string | null;
  /** What a payout cost, in the currency of the fee; null: not said, or of no known unit. */
  payoutFee: string | null;
  feeCurrency: string | null;
  /** When it came into this state. */
  at: Date | null;
  holdReason: string | null;
  /** Of a refund that waits since the payment is disputed: which disputes. */
  disputes: string | null;
  /** Of a payout that waits: what is asked for, and to whom, with the end of the account. */
  payout: { asked: string; payee: string; reference: string | null } | null;
}

/** One order of the run: in the ledger, at the gateway, or both. */
export interface OrderRow {
  accountId: string;
  orderNo: string;
  /** matched | explained | due | awaited | broken | notCompared */
  class: string;
  /** The kinds of its breaks, joined by ", "; empty when there is none. */
  kinds: string;
  /** Null for a gateway-only order. */
  expected: string | null;
  /** Null while the gateway has no entry or its code has no meaning. */
  gatewayState: string | null;
  /** The gateway's own code, as received. */
  paymentStatus: string | null;
  /** Of the order: the ledger's, else the gateway's. */
  currency: string | null;
  ledgerAmount: string | null;
  /** Of what the gateway shows. */
  gatewayCurrency: string | null;
  gatewayAmount: string | null;
  /** What each side says of money taken and given back, in the currency of its amount. */
  ledgerCaptured: string | null;
  gatewayCaptured: string | null;
  ledgerRefunded: string | null;
  gatewayRefunded: string | null;
  transactionId: string | null;
  /** As the gateway printed it. */
  transactionDate: string | null;
  placedAt: Date | null;
}

/** openBefore + new + reopened - waived - resolved = openAfter, for one kind of break. */
export interface KindTie extends Tie {
  accountId: string;
  kind: string;
}

/** The same in money: the amounts at stake, as text, for one currency. */
export interface MoneyTie {
  accountId: string;
  currency: string;
  openBefore: string;
  new: string;
  reopened: string;
  waived: string;
  resolved: string;
  openAfter: string;
}

/** What openAfter has to be in money; the open breaks tie when it is. */
export function workedOutStake(tie: MoneyTie): Hundredths {
  const of = (amount: string): Hundredths => parseSum(amount) ?? 0n;
  return of(tie.openBefore) + of(tie.new) + of(tie.reopened) - of(tie.waived) - of(tie.resolved);
}

/** The orders of one account and currency, counted and in money. */
export interface CurrencyRow {
  accountId: string;
  /** Empty where no side shows one. */
  currency: string;
  /** Placed on a date that the run covers; before it and carried forward; not in the ledger. */
  ofDate: number;
  carried: number;
  gatewayOnly: number;
  atGateway: number;
  classes: Record<OrderClass, number>;
  /** What each side shows in this currency, of whatever currency the order is. */
  ledger: string;
  gateway: string;
  /** The ledger's money by class; a gateway-only order's is what the gateway shows. */
  money: Record<OrderClass, string>;
  /** What each side says of money taken and given back, and of how many orders it was taken. */
  ledgerCaptured: string;
  ledgerRefunded: string;
  gatewayCaptured: string;
  gatewayRefunded: string;
  ledgerCaptures: number;
  gatewayCaptures: number;
}

/** What was done at the gateway and not by us, while our instruction for it still waited. */
export interface ElsewhereRow {
  accountId: string;
  currency: string;
  captured: string;
  cancelled: string;
  refunded: string;
}

/** An order that was not plainly asked and answered. */
export interface CoverageLine {
  accountId: string;
  orderNo: string;
  /** The page that asked for it. */
  page: number | null;
  how: string;
  reason: string | null;
}

/** One account and currency on one business date. */
export interface ActivityRow {
  businessDate: string;
  accountId: string;
  currency: string;
  /** Money at stake in open breaks, before the run, what the run changed, after it. */
  openBefore: string;
  change: string;
  openAfter: string;
  captured: string;
  cancelled: string;
  refunded: string;
  net: string;
  /** Sent, and nobody could say at the end of the date; not a flow, so never added up. */
  unknown: string;
}

/** What a reader needs to know to trust the file and to work it out again. */
export interface AboutData {
  environment: 'test' | 'live';
  businessDate: string;
  timezone: string;
  cutOff: string;
  /** The time of the snapshot that the figures show. */
  asOf: Date;
  /** When the report was made; also the date in the file's properties. */
  createdAt: Date;
  revision: number;
  /** The run before this one, whose openAfter is our openBefore. */
  previousRun: string | null;
  /** The newest workbook of that run: its digest, by which `tieout verify --workbook` knows it. */
  previousWorkbook: string | null;
  /** Where the chains of digests ended when this was made, as one digest. */
  chainHead: string;
  /** Program, database, gateway profile ... and their versions. */
  versions: readonly (readonly [name: string, version: string])[];
  profileHash: string;
  /** Digest over the ledger rows and the gateway answers that were used. */
  inputsHash: string;
  /** What the database held: compared again by `tieout verify --workbook`. */
  digests: Readonly<Record<string, string>>;
  /** Whether somebody keeps what became of the captured money. */
  keepsSettlement: boolean;
  /** How people reach the console, without a slash at its end; null: not given. */
  consoleAddress: string | null;
  /** Settings that decided something, in the order in which they are to be shown. */
  parameters: readonly (readonly [name: string, value: string])[];
}

/** A night of the trend: breaks open at its end. */
export interface NightMark {
  businessDate: string;
  open: number;
}

/** Rows in chunks, so that nobody ever holds all of them. */
export type Chunks<R> = AsyncIterable<readonly R[]> | Iterable<readonly R[]>;

/** Money that is reserved and not taken, and lapses soon; times are those at the snapshot. */
export interface ReservationRow {
  accountId: string;
  orderNo: string;
  transactionId: string | null;
  currency: string | null;
  amount: string | null;
  standing: string | null;
  hoursLeft: number | null;
  lapsesAt: Date | null;
  since: Date | null;
  wanted: string;
  obstacle: string;
  owner: string | null;
}

/** A break that is otherwise than when the run before ended; its age is that at the snapshot. */
export interface ChangeRow extends ChangedBreak {
  ageDays: number;
}

/** Everything in the nightly workbook. Each list is read more than once, the same each time. */
export interface ReconciliationData {
  summary: RunSummary;
  about: AboutData;
  /** What rows are sealed with about which a decision may come back. */
  secret: string;
  /** Breaks open at the end, oldest first: all, or those of these kinds. */
  breaks: (kinds?: readonly string[]) => Chunks<BreakRow>;
  /** Instructions confirmed in this run; these and no others make up the totals. */
  moved: () => Chunks<InstructionRow>;
  /** Held, queued, accepted, rejected and unknown instructions: what still needs someone. */
  waiting: () => Chunks<InstructionRow>;
  /** What is reserved and lapses; left out where nobody said how long reservations hold. */
  reservations?: (() => Chunks<ReservationRow>) | undefined;
  /** What became of breaks since the run before, by account, currency and change. */
  changes: () => Chunks<ChangeRow>;
  openBefore: readonly OpenBefore[];
  /** What the changes are counted from. */
  comparedWith: readonly ComparedWith[];
  /** The last nights up to this one, oldest first; left out where they are not drawn. */
  nights?: readonly NightMark[] | undefined;
  currencies: readonly CurrencyRow[];
  /** Orders of which both sides say different money: the lines of the statement. */
  lines: () => Chunks<StatementLine>;
  /** What moved of this date after its run had ended; nothing as the run writes its own. */
  movedAfter: readonly MovedAfter[];
  /** Who closed and who locked the day of an account, if it is so as this is written. */
  signings: ReadonlyMap<string, readonly Signing[]>;
  /** What the revisions say that were signed. */
  signedFigures: readonly RevisionFigures[];
  /** The same of what is not settled, and from when on; left out where no books are kept. */
  books?: { from: string; lines: () => Chunks<BookLine> } | undefined;
  elsewhere: readonly ElsewhereRow[];
  coverage: Chunks<CoverageLine>;
  /** May be empty: the sections are then left out. */
  tiesByKind: readonly KindTie[];
  tiesByMoney: readonly MoneyTie[];
}

/** A file that is complete, on disk, and will not be changed again. */
export interface WrittenReport {
  path: string;
  sha256: string;
  bytes: number;
  /** Digests of its rows, where they are added up while it is written. */
  rowDigests?: Readonly<Record<string, string>>;
  /** What its statements say, where it holds any. */
  statements?: readonly Statement[];
}

/** Why the money of a run is not that of its business date. */
export const BETWEEN_NIGHTS =
  'What was done or proved between two nights (tieout send, a finding of a person) is in the run ' +
  'that came next; the business days may count it on an earlier date, whose page says so.';
