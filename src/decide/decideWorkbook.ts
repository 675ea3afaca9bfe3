// Decisions that come back in a workbook: each filled row is read, and what it asks for is done by
// the functions that `tieout breaks` and `tieout instructions` use, bound to what the row was
// written with. A row that is refused keeps no other from being done, and one that was done before
// changes nothing. Neighbours: core/decisions/ has the rules, reports/decisions/ reads the file.

import { filledRows } from '../../reports/decisions/decisionRows.js';
import { findBreaks } from '../breaks/breaksStore.js';
import type { DecideDeps as BreakDeps, DecidedBreakRow } from '../breaks/decideBreaks.js';
import { decideBreaks } from '../breaks/decideBreaks.js';
import { trailWords } from '../core/breaks/breakDecision.js';
import { outcomeWords } from '../core/breaks/outcome.js';
import { namesIn } from '../core/breaks/sentence.js';
import type { ReadRow, Wanted } from '../core/decisions/wantedDecision.js';
import { readRows } from '../core/decisions/wantedDecision.js';
import { messageOf, UsageError } from '../core/errors.js';
import type { Decider } from '../core/instructions/decider.js';
import { isSamePerson, wordsProblem } from '../core/instructions/decider.js';
import { holdWords, isApprovable, notApprovable } from '../core/instructions/holdReasons.js';
import { askedWords, payeeWords } from '../core/instructions/payouts/payoutAsked.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { DecisionVerdict, DecideDeps as InstructionDeps } from '../instructions/decisions.js';
import { decideInstructions } from '../instructions/decisions.js';
import type { LaterDecision } from '../instructions/decisionsStore.js';
import { decidedSince, ordersOfInstructions } from '../instructions/decisionsStore.js';
import { workbookKey } from '../report/workbookKeyStore.js';

/** Equal decisions of so many rows are one transaction, and approvals of them share batches. */
const TOGETHER_MAX = 50;

/** For which accounts the person may do what; null: nobody has asked, as on the command line. */
type MayDecide = Readonly<
  Record<'workBreaks' | 'waive' | 'agreeToWaiver' | 'approve', readonly string[]>
>;

interface DecideRequest {
  readonly who: Decider;
  readonly may: MayDecide | null;
  /** says what would happen and changes nothing */
  readonly check: boolean;
  /** who may be signed in at the console; empty: nobody, so that any name is as good */
  readonly people: readonly string[];
}

/** What became of a row. */
export interface DecidedRow {
  readonly sheet: string;
  readonly row: number;
  readonly id: string;
  /** what the id is of; null: the row carries none */
  readonly of: 'break' | 'instruction' | null;
  /** null: none that the person may decide about */
  readonly order: DecidedOrder | null;
  readonly decision: string;
  /** the reason, and to whom, as they are kept; empty: none, or the row cannot be read */
  readonly given: string;
  readonly result: 'done' | 'refused' | 'unchanged';
  readonly reason: string;
  /** a waiver that is only asked for: nothing is waived before a second person agrees */
  readonly isAsked?: true;
  /** a waiver that another person asked for: this one agrees as the second */
  readonly isSecond?: true;
}

interface DecidedOrder {
  readonly accountId: string;
  readonly orderNo: string;
  /** the money in the break or of the instruction, printed shape; null: nobody can say */
  readonly amount: string | null;
  readonly currency: string | null;
  /** of an instruction, and why it was held before this decision; null: of a break, or not held */
  readonly operation: string | null;
  readonly waitsFor: string | null;
  /** of a payout: what its request asks for as it stands now, and to whom; null: of nothing else */
  readonly payout: { readonly asked: string; readonly payee: string } | null;
}

type DecideDeps = BreakDeps & InstructionDeps;
type WantedRow = Extract<ReadRow, { kind: 'wanted' }>;
type Result = Pick<DecidedRow, 'result' | 'reason' | 'isAsked' | 'isSecond'>;

/** One answer for each filled row, in the order of the file; throws what is no workbook of ours. */
export async function decideWorkbook(
  deps: DecideDeps,
  bytes: Buffer,
  request: DecideRequest,
): Promise<DecidedRow[]> {
  const problem = wordsProblem(request.who.name);
  if (problem !== null) throw new UsageError(`the name of who decides ${problem}`);
  const rows = readRows(await filledRows(bytes, await workbookKey(deps.db)));
  // Before anything is decided: why each waits is not on record any more once it is freed.
  const orders = await ordersOf(deps, rows, request.may);
  const results = new Map<ReadRow, Result>();
  for (const group of groupsOf(rows)) {
    for (const [row, result] of await decideGroup(deps, group, request)) results.set(row, result);
  }
  return rows.map((row) => {
    const { sheet, row: number, id, of, decision } = row;
    const result =
      row.kind === 'wanted'
        ? (results.get(row) ?? { result: 'refused', reason: NO_SUCH })
        : { result: row.kind, reason: row.reason };
    const found = orders.get(`${of} ${id}`);
    const said =
      result.reason === NO_SUCH && found !== undefined
        ? { ...result, reason: whomToAsk(row, found.holdReason) }
        : result;
    const order = found?.order ?? null;
    // Whatever a person types may hold a card number; numbers of this order are none.
    const given = withoutCards(givenIn(row), found?.names);
    return { sheet, row: number, id, of, order, decision, given, ...said };
  });
}

/** Of what the person sees and may not decide about. */
function whomToAsk(row: ReadRow, holdReason: string | null): string {
  if (row.of === 'instruction') {
    const isApproval = row.kind === 'wanted' && row.wanted.action.kind === 'approve';
    return isApproval && holdReason !== null && !isApprovable(holdReason)
      ? notApprovable(holdReason, 'have an approver reject it')
      : 'approvers decide about it: ask one, it stands under Approvals';
  }
  const isWaived = row.kind === 'wanted' && row.wanted.action.kind === 'waive';
  return isWaived
    ? 'finance waives it, and finance or an approver agrees: ask one of them'
    : 'finance or an operator decides that: ask one of them';
}

function givenIn(row: ReadRow): string {
  if (row.kind !== 'wanted') return '';
  const { wanted } = row;
  return wanted.of === 'break' ? trailWords(wanted.action) : (wanted.action.reason ?? '');
}

interface FoundOrder {
  order: DecidedOrder;
  /** that words about it may name */
  names: string[];
  holdReason: string | null;
}

/** By what the id is of, and the id. */
async function ordersOf(
  { db }: DecideDeps,
  rows: readonly ReadRow[],
  may: MayDecide | null,
): Promise<Map<string, FoundOrder>> {
  const accountIds = accountsOf(may);
  const ids = (what: ReadRow['of']) =>
    rows.filter(({ id, of }) => of === what && ROW_ID.test(id)).map(({ id }) => id);
  const page = { limit: Math.max(1, ids('break').length), offset: 0 };
  const breaks = await findBreaks(db, { ids: ids('break'), accountIds }, page);
  const instructions = await ordersOfInstructions(db, ids('instruction'), accountIds);
  const found = new Map<string, FoundOrder>();
  for (const one of breaks) {
    const { breakId, accountId, orderNo, stake: amount, currency } = one;
    const order = { accountId, orderNo, amount, currency, ...OF_A_BREAK };
    found.set(`break ${breakId}`, { order, names: namesIn(one), holdReason: null });
  }
  for (const { id, holdReason, payout: asked, transactionId, ...money } of instructions) {
    const names = [money.orderNo, transactionId];
    const payout = asked && { asked: askedWords(asked), payee: payeeWords(asked, null) };
    const waitsFor = holdReason && holdWords(holdReason);
    found.set(`instruction ${id}`, { order: { ...money, waitsFor, payout }, names, holdReason });
  }
  return found;
}

const OF_A_BREAK = { operation: null, waitsFor: null, payout: null };

/** About whose orders the person is told; null: all. */
function accountsOf(may: MayDecide | null): string[] | null {
  return may === null ? null : [...new Set(Object.values(may).flat())];
}

const ROW_ID = /^\d{1,18}$/;

const NO_SUCH = 'there is none of this number, or none that you may decide about';

/** Rows that want the same, in the order in which the first of each group stands. */
function groupsOf(rows: readonly ReadRow[]): WantedRow[][] {
  const groups: WantedRow[][] = [];
  const open = new Map<string, WantedRow[]>();
  for (const row of rows) {
    if (row.kind !== 'wanted') continue;
    const key = JSON.stringify([row.wanted.of, row.wanted.action]);
    const group = open.get(key);
    if (group !== undefined && group.length < TOGETHER_MAX) group.push(row);
    else {
      const begun = [row];
      open.set(key, begun);
      groups.push(begun);
    }
  }
  return groups;
}

/** Together; where that fails, one by one, so that one row harms itself alone. */
async function decideGroup(
  deps: DecideDeps,
  group: readonly WantedRow[],
  request: DecideRequest,
): Promise<[WantedRow, Result][]> {
  try {
    return await decideTogether(deps, group, request);
  } catch (error) {
    const [only] = group;
    if (only !== undefined && group.length === 1) {
      if (!(error instanceof UsageError)) throw error;
      return [[only, { result: 'refused', reason: messageOf(error) }]];
    }
    const results: [WantedRow, Result][] = [];
    for (const row of group) results.push(...(await decideGroup(deps, [row], request)));
    return results;
  }
}

function decideTogether(
  deps: DecideDeps,
  group: readonly WantedRow[],
  request: DecideRequest,
): Promise<[WantedRow, Result][]> {
  const wanted = group[0]?.wanted;
  if (wanted === undefined) return Promise.resolve([]);
  return wanted.of === 'break'
    ? decideBreakRows(deps, group, wanted, request)
    : decideInstructionRows(deps, group, wanted, request);
}

async function decideBreakRows(
  deps: DecideDeps,
  group: readonly WantedRow[],
  { action }: Extract<Wanted, { of: 'break' }>,
  { who, may, check, people }: DecideRequest,
): Promise<[WantedRow, Result][]> {
  const accountIds =
    may === null ? null : may[action.kind === 'waive' ? 'agreeToWaiver' : 'workBreaks'];
  const page = { limit: group.length, offset: 0 };
  const visible = await findBreaks(deps.db, { ids: group.map(({ id }) => id), accountIds }, page);
  const ids = visible.map(({ breakId }) => breakId);
  const seen = new Map(group.map(({ id, wanted }) => [id, wanted.binding]));
  const about = { ids, action, who, over: null, seen, check, mayWaive: may?.waive };
  const decided = await decideBreaks(deps, about);
  const found = new Map(decided.map((row) => [row.breakId, row]));
  const owner = action.kind === 'assign' ? action.owner : null;
  const isStranger = owner !== null && people.length > 0 && !people.includes(owner);
  const kept = isStranger ? withoutCards(owner, visible.flatMap(namesIn)) : '';
  const warning = isStranger ? `; the console knows nobody called ${kept}` : '';
  return group.map((row) => [row, breakResult(found.get(row.id), warning)]);
}

/** `warning` is what is said of one that is done all the same. */
function breakResult(row: DecidedBreakRow | undefined, warning: string): Result {
  if (row === undefined) return { result: 'refused', reason: NO_SUCH };
  if (row.kind === 'refused' || row.kind === 'unchanged') {
    return { result: row.kind, reason: row.reason };
  }
  const asked = row.kind === 'waiver_asked' ? { isAsked: true as const } : {};
  const second = row.kind === 'waiver_agreed' ? { isSecond: true as const } : {};
  return { result: 'done', reason: outcomeWords(row.kind).said + warning, ...asked, ...second };
}

async function decideInstructionRows(
  deps: DecideDeps,
  group: readonly WantedRow[],
  { action }: Extract<Wanted, { of: 'instruction' }>,
  { who, may, check }: DecideRequest,
): Promise<[WantedRow, Result][]> {
  const bindings = group.map(({ wanted }) => wanted.binding);
  const since = await decidedSince(deps.db, bindings, accountsOf(may));
  const results: [WantedRow, Result][] = [];
  const open: WantedRow[] = [];
  for (const row of group) {
    const later = since.filter(({ instructionId }) => instructionId === BigInt(row.id));
    const before = decidedBefore(later, action, who);
    if (before === null) open.push(row);
    else results.push([row, before]);
  }
  const verdicts = await decideInstructions(deps, {
    ids: open.map(({ id }) => BigInt(id)),
    decision: action,
    who,
    seen: new Map(open.map(({ id, wanted }) => [BigInt(id), wanted.binding.seen])),
    accountIds: may === null ? null : may.approve,
    check,
  });
  for (const [at, row] of open.entries()) results.push([row, verdictResult(verdicts[at])]);
  return results;
}

/** Whether this person said it already, or somebody decided since; null: neither. */
function decidedBefore(
  later: readonly LaterDecision[],
  action: Extract<Wanted, { of: 'instruction' }>['action'],
  who: Decider,
): Result | null {
  const mine = later.some(
    ({ decision, by, reason }) =>
      decision === action.kind &&
      isSamePerson(by, who.name) &&
      (reason === action.reason || reason === withoutCards(action.reason ?? '')),
  );
  if (mine) return { result: 'unchanged', reason: 'you decided this already' };
  const last = later.at(-1);
  if (last === undefined) return null;
  const words = `it was decided meanwhile: ${last.decision} by ${last.by}`;
  return { result: 'refused', reason: words };
}

function verdictResult(verdict: DecisionVerdict | undefined): Result {
  if (verdict === undefined || verdict.kind === 'not_found') {
    return { result: 'refused', reason: NO_SUCH };
  }
  if (verdict.kind === 'refused') return { result: 'refused', reason: verdict.words };
  return { result: 'done', reason: `${verdict.becomes}: ${verdict.words}` };
}
