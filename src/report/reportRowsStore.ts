// What reports are made of, read from the database: breaks, movements, all orders of a run, and
// what a reader needs to trust them. Rows come in chunks, so that memory stays flat however many
// there are; who has to see the same ones twice reads them of one snapshot (db.ts).

import { streamChanged } from '../breaks/changedStore.js';
import { type AgeClock, ageInDays } from '../core/breaks/breakAge.js';
import type { DueRule } from '../core/breaks/dueDate.js';
import { dueDate, overdueBefore } from '../core/breaks/dueDate.js';
import type { RefusedHere, SettledRefund, Side } from '../core/breaks/sentence.js';
import {
  breakDifference,
  breakSentence,
  sideText,
  transactionsIn,
} from '../core/breaks/sentence.js';
import type { RowBinding } from '../core/decisions/rowBinding.js';
import { type PayoutAnswer, payoutWords } from '../core/instructions/payoutAnswer.js';
import {
  type AskedPayout,
  askedWords,
  payeeWords,
} from '../core/instructions/payouts/payoutAsked.js';
import type { BreakKind } from '../core/orders/verdict.js';
import type {
  AboutData,
  BreakRow,
  ChangeRow,
  InstructionRow,
  OrderRow,
} from '../core/runs/reporting.js';
import { disputeText } from '../core/text/labels.js';
import type { CopiedRow } from '../database/copy/copyOut.js';
import type { Database, Db, LongReads, PlannerSettings } from '../database/db.js';
import { literal, named } from '../database/identifiers.js';
import { statement } from '../database/statements.js';
import type { SeenDispute } from '../instructions/decisionsStore.js';
import { runSnapshots } from '../runs/runAccountsStore.js';

/** Breaks and movements that are in hand at once; each is about a kilobyte. */
const CHUNK_ROWS = 500;

/** A break as the statements of reports answer it. */
export interface RawBreakRow {
  break_id?: string;
  opened?: string | null;
  stake?: string | null;
  account_id: string;
  order_no: string;
  kind: BreakKind;
  first_seen: Date;
  owner: string | null;
  note: string | null;
  waiver_asked_by?: string | null;
  waiver_asked_reason?: string | null;
  expected: Side;
  actual: Side;
  currency: string | null;
  settled_refunds?: SettledRefund[] | null;
  refused?: RefusedHere | null;
}

/** An open break as reports print it; its age is that of the clock. */
export function openBreakRow(row: RawBreakRow, clock: AgeClock): BreakRow {
  return {
    breakId: row.break_id ?? null,
    accountId: row.account_id,
    orderNo: row.order_no,
    kind: row.kind,
    state: 'open',
    sentence: breakSentence(
      row.kind,
      row.expected,
      row.actual,
      row.settled_refunds ?? [],
      row.refused,
    ),
    expected: sideText(row.expected),
    actual: sideText(row.actual),
    currency: row.currency,
    difference: breakDifference(row.kind, row.expected, row.actual),
    stake: row.stake ?? null,
    opened: row.opened ?? null,
    ledgerAmount: row.expected.amount ?? null,
    gatewayAmount: row.actual.amount ?? null,
    gatewayCurrency: row.actual.currency ?? null,
    firstSeen: row.first_seen,
    ageDays: ageInDays(row.first_seen, clock),
    ...{ due: null, isOverdue: false },
    owner: row.owner,
    note: row.note,
    waiverAskedBy: row.waiver_asked_by ?? null,
    waiverAskedReason: row.waiver_asked_reason ?? null,
    transactionId: row.actual.transaction ?? null,
    transactions: [
      ...transactionsIn(row.expected, row.actual),
      ...(row.settled_refunds ?? []).map(({ batch }) => batch),
    ],
  };
}

/**
 * The breaks that were open at the end of a run, oldest first; of all kinds, or of these. What a
 * person decided since is not in them: they are those that the run's tie counts.
 */
export async function* breakRows(
  reads: LongReads,
  runId: bigint,
  { asOf, rule }: { asOf: Date; rule: DueRule },
  kinds: readonly string[] | null = null,
): AsyncGenerator<BreakRow[]> {
  const late = overdueBefore(asOf, rule);
  const clock = { at: asOf, timezone: rule.timezone };
  const chunks = reads.stream<RawBreakRow & BoundRow>(
    statement('report/listedBreaks'),
    [[runId], kinds],
    CHUNK_ROWS,
  );
  for await (const rows of chunks) {
    yield rows.map((row) => ({
      ...openBreakRow(row, clock),
      due: dueDate(row.first_seen, rule),
      isOverdue: row.first_seen < late,
      binding: breakBinding(row),
    }));
  }
}

interface BoundRow {
  break_id: string;
  seen_sha256: string;
  last_event: bigint | null;
}

function breakBinding(row: BoundRow): RowBinding {
  const last = String(row.last_event ?? 0);
  return { of: 'break', id: row.break_id, last, seen: row.seen_sha256 };
}

/** What became of breaks since the run before of each account, as the console's page lists it. */
export async function* changeRows(
  reads: LongReads,
  runId: bigint,
  accountIds: readonly string[],
  clock: AgeClock,
): AsyncGenerator<ChangeRow[]> {
  for await (const rows of streamChanged(reads, runId, accountIds)) {
    yield rows.map((row) => ({ ...row, ageDays: ageInDays(row.firstSeen, clock) }));
  }
}

/** Instructions confirmed in a run: these and no others make up its totals. */
export function movedRows(reads: LongReads, runId: bigint): AsyncGenerator<InstructionRow[]> {
  return movements(reads, runId, false);
}

/** What still needs somebody: open instructions of its accounts, refusals of it or not counted. */
export function waitingRows(reads: LongReads, runId: bigint): AsyncGenerator<InstructionRow[]> {
  return movements(reads, runId, true);
}

interface RawInstructionRow {
  instruction_id: bigint;
  account_id: string;
  order_no: string;
  refund_id: string | null;
  operation: string;
  state: string;
  currency: string;
  amount: string | null;
  transaction_id: string;
  gateway_reference: string | null;
  refund_reference: string | null;
  message: string | null;
  payout_answer: PayoutAnswer | null;
  at: Date | null;
  hold_reason: string | null;
  disputes: SeenDispute[] | null;
  payout: AskedPayout | null;
  is_known_payee: boolean | null;
  seen_sha256: string | null;
  last_decision: bigint | null;
}

async function* movements(
  reads: LongReads,
  runId: bigint,
  areWaiting: boolean,
): AsyncGenerator<InstructionRow[]> {
  const chunks = reads.stream<RawInstructionRow>(
    statement('report/instructionRows'),
    [runId, areWaiting],
    CHUNK_ROWS,
  );
  for await (const rows of chunks) yield rows.map(instructionRow);
}

function instructionRow(row: RawInstructionRow): InstructionRow {
  return {
    instructionId: String(row.instruction_id),
    accountId: row.account_id,
    orderNo: row.order_no,
    refundId: row.refund_id,
    operation: row.operation,
    state: row.state,
    currency: row.currency,
    amount: row.operation === 'review' ? null : row.amount,
    transactionId: row.transaction_id,
    gatewayReference: row.gateway_reference,
    refundReference: row.refund_reference,
    gatewayMessage: payoutWords(row.payout_answer) || row.message,
    payoutFee: row.payout_answer?.fee ?? null,
    feeCurrency: row.payout_answer?.fee_currency ?? null,
    at: row.at,
    holdReason: row.hold_reason,
    disputes: row.disputes === null ? null : row.disputes.map(disputeText).join('; '),
    payout: payoutOf(row),
    binding: instructionBinding(row),
  };
}

function payoutOf(row: RawInstructionRow): InstructionRow['payout'] {
  const { payout, is_known_payee: isKnown } = row;
  if (payout === null) return null;
  const { reference } = payout;
  return { asked: askedWords(payout), payee: payeeWords(payout, isKnown), reference };
}

function instructionBinding(row: RawInstructionRow): RowBinding | null {
  const { instruction_id, last_decision, seen_sha256: seen } = row;
  if (seen === null) return null;
  const last = String(last_decision ?? 0);
  return { of: 'instruction', id: String(instruction_id), last, seen };
}

/** The planner would hash and sort all orders, or look each up: two indexes are in their order. */
export const BY_INDEX_ONLY: PlannerSettings = {
  enable_hashjoin: 'off',
  enable_nestloop: 'off',
  max_parallel_workers_per_gather: '0',
};

/** All orders of a run in chunks, by account and number; instants in milliseconds since 1970. */
export async function* orderRows(db: Database, runId: bigint): AsyncGenerator<OrderRow[]> {
  const snapshots = await runSnapshots(db, runId);
  for (const { accountId, pullId } of snapshots) {
    const copy = named`copy (
      select account_id, order_no, class, coalesce(array_to_string(kinds, ', '), ''), expected,
        gateway_state, payment_status,
        case when ledger_amount is null then currency else ledger_currency end,
        ledger_amount::text,
        coalesce(gateway_amount::text, gateway_amount_text), transaction_id, transaction_date,
        case when isfinite(placed_at) then floor(extract(epoch from placed_at) * 1000)::bigint end,
        gateway_currency, round(ledger_captured, 2)::text, round(gateway_captured, 2)::text,
        round(ledger_refunded, 2)::text, round(gateway_refunded, 2)::text
      from tieout.seen_orders(${runId}, ${literal(accountId)}, ${pullId})) to stdout`;
    for await (const rows of db.copyOut(copy, BY_INDEX_ONLY)) yield rows.map(orderRow);
  }
}

/** In the order of the statement's columns. */
function orderRow(row: CopiedRow): OrderRow {
  const [accountId, orderNo, className, kinds, expected, gatewayState, paymentStatus] = row;
  const placedMs = row[12] ?? null;
  return {
    accountId: accountId ?? '',
    orderNo: orderNo ?? '',
    class: className ?? '',
    kinds: kinds ?? '',
    expected: expected ?? null,
    gatewayState: gatewayState ?? null,
    paymentStatus: paymentStatus ?? null,
    currency: row[7] ?? null,
    ledgerAmount: row[8] ?? null,
    gatewayCurrency: row[13] ?? null,
    gatewayAmount: row[9] ?? null,
    ledgerCaptured: row[14] ?? null,
    gatewayCaptured: row[15] ?? null,
    ledgerRefunded: row[16] ?? null,
    gatewayRefunded: row[17] ?? null,
    transactionId: row[10] ?? null,
    transactionDate: row[11] ?? null,
    placedAt: placedMs === null ? null : new Date(Number(placedMs)),
  };
}

/**
 * What only the database knows of the run itself. Its inputs are its snapshots, sealed: the orders
 * and refund requests that were asked, and the answers.
 */
interface RunAbout extends Pick<AboutData, 'inputsHash'> {
  server: string;
  /** those that the run used, as config/view.ts describes them */
  settings: unknown;
  settingsSha256: string;
}

export async function runAbout(db: Db, runId: bigint): Promise<RunAbout> {
  const { rows } = await db.query<RunAbout>(
    `select current_setting('server_version') as server, settings,
       settings_sha256 as "settingsSha256",
       encode(sha256(convert_to(coalesce((
           select string_agg(concat_ws(' ', k.account_id, k.pull_id, c.facts_sha256), ' '
             order by k.account_id, k.pull_id)
           from tieout.pulls p join tieout.look_links k using (pull_id)
           join tieout.chain_links c using (link_id)
           where p.run_id = r.run_id), ''), 'UTF8')), 'hex') as "inputsHash"
     from tieout.runs r where run_id = $1`,
    [runId],
  );
  const row = rows[0];
  if (!row) throw new Error(`there is no run ${runId}`);
  return row;
}
