// One decision about all breaks that match a filter: looked at with its totals, then done, and only
// if what matches is still what was looked at. It is written in parts, so that no row is held for
// long and a run goes on beside it; each break is bound to what was seen of it, and keeps its own
// line in the trail. Neighbour: decideBreaks.ts decides about the breaks of one part.

import { createHash } from 'node:crypto';
import type { BreakAction, BreakVerdict } from '../core/breaks/breakDecision.js';
import { decideBreak, waivedAloneMax } from '../core/breaks/breakDecision.js';
import type { Decider } from '../core/instructions/decider.js';
import type { MoneySum } from '../core/money.js';
import { parseAmount, sumMoney } from '../core/money.js';
import { countBreaksAnew } from './breakDecisionsStore.js';
import type { BreakFilter, SetBreak } from './breaksStore.js';
import { breakSet } from './breaksStore.js';
import type { DecideDeps, DecidedBreakRow } from './decideBreaks.js';
import { decideBreaks, storedAction } from './decideBreaks.js';

/** Breaks that are looked through for one set. */
const LOOKED_MAX = 50_000;
/** Breaks of one set: what one press decides about. */
export const SET_MAX = 10_000;
/** Breaks of one transaction. */
const PART = 2_500;
/** Breaks of one decision after which the database plans anew. */
const MANY = 100;
/** Breaks that a total names: which goes which way. */
const NAMED = 10;

export interface SetTotal extends MoneySum {
  breaks: number;
  oldest: Date | null;
  /** the first of them */
  named: readonly Pick<SetBreak, 'breakId' | 'orderNo'>[];
}

export interface SetPreview {
  /** of all that match */
  matching: SetTotal;
  /** there are more than were looked through */
  isCut: boolean;
  /** of those that the next press decides about, by what becomes of them */
  becomes: ReadonlyMap<BreakVerdict['kind'], SetTotal>;
  /** what it would leave as they are, by reason */
  left: ReadonlyMap<string, SetTotal>;
  /** would be decided about by further presses */
  later: number;
  /** of what the press is about, row by row */
  digest: string;
}

interface SetRequest {
  readonly filter: BreakFilter;
  readonly action: BreakAction;
  readonly who: Decider;
  /** accounts where this person may waive; elsewhere only agree. Absent: all of them */
  readonly mayWaive?: readonly string[] | undefined;
}

interface ChosenSet {
  preview: SetPreview;
  rows: SetBreak[];
}

export async function previewSet(deps: DecideDeps, request: SetRequest): Promise<SetPreview> {
  return (await chooseSet(deps, request)).preview;
}

export type SetOutcome =
  | { kind: 'changed' }
  | { kind: 'decided'; verdicts: Map<BreakVerdict['kind'], SetTotal>; rows: DecidedBreakRow[] };

/** `digest` is that of the preview; `over` says how the set was chosen, null: one by one. */
export async function decideSet(
  deps: DecideDeps,
  request: SetRequest & { readonly digest: string; readonly over: string | null },
): Promise<SetOutcome> {
  const { action, who, over, mayWaive } = request;
  const { preview, rows } = await chooseSet(deps, request);
  if (preview.digest !== request.digest || rows.length === 0) return { kind: 'changed' };
  const verdicts = new Map<BreakVerdict['kind'], SetBreak[]>();
  const decided: DecidedBreakRow[] = [];
  const decisionId = deps.newId();
  for (let at = 0; at < rows.length; at += PART) {
    const part = rows.slice(at, at + PART);
    const ids = part.map(({ breakId }) => breakId);
    const seen = new Map(part.map((row) => [row.breakId, row]));
    const about = { ids, action, who, over, seen, decisionId, mayWaive };
    for (const row of await decideBreaks(deps, about)) {
      const shown = seen.get(row.breakId);
      if (shown !== undefined) append(verdicts, row.kind, shown);
      decided.push(row);
    }
  }
  if (decided.length >= MANY) await countBreaksAnew(deps.db);
  return { kind: 'decided', verdicts: totalsOf(verdicts), rows: decided };
}

/** Those that the decision would change, oldest first: the same again would end nowhere. */
async function chooseSet(deps: DecideDeps, request: SetRequest): Promise<ChosenSet> {
  const { filter, who, mayWaive } = request;
  const approveAbove = deps.config.operations.approveAbove.refund;
  const found = await breakSet(deps.db, filter, LOOKED_MAX + 1);
  const looked = found.slice(0, LOOKED_MAX);
  // As it is weighed and kept when it is pressed.
  const action = storedAction(
    request.action,
    looked.map(({ orderNo }) => orderNo),
  );
  const becomes = new Map<BreakVerdict['kind'], SetBreak[]>();
  const left = new Map<string, SetBreak[]>();
  const rows: SetBreak[] = [];
  let later = 0;
  for (const row of looked) {
    const counted = row.waiverStake === null ? null : parseAmount(row.waiverStake);
    const limit = waivedAloneMax(approveAbove, row.currency);
    const may = mayWaive?.includes(row.accountId) ?? true;
    const verdict = decideBreak({ ...row, waiverStake: counted }, action, who, limit, may);
    if ('reason' in verdict) append(left, verdict.reason, row);
    else if (rows.length >= SET_MAX) later += 1;
    else {
      rows.push(row);
      append(becomes, verdict.kind, row);
    }
  }
  const preview = {
    matching: totalOf(looked),
    isCut: found.length > looked.length,
    becomes: totalsOf(becomes),
    left: totalsOf(left),
    later,
    digest: digestOf(rows),
  };
  return { preview, rows };
}

function append<K>(groups: Map<K, SetBreak[]>, key: K, row: SetBreak): void {
  const some = groups.get(key);
  if (some === undefined) groups.set(key, [row]);
  else some.push(row);
}

function totalsOf<K>(groups: ReadonlyMap<K, SetBreak[]>): Map<K, SetTotal> {
  return new Map([...groups].map(([key, some]) => [key, totalOf(some)]));
}

function totalOf(rows: readonly SetBreak[]): SetTotal {
  const oldest = rows[0]?.firstSeen ?? null;
  const named = rows.slice(0, NAMED);
  const sum = sumMoney(rows.map(({ stake, currency }) => ({ amount: stake, currency })));
  return { breaks: rows.length, ...sum, oldest, named };
}

function digestOf(rows: readonly SetBreak[]): string {
  const hash = createHash('sha256');
  for (const { breakId, seen, last } of rows) hash.update(`${breakId} ${seen} ${last}\n`);
  return hash.digest('hex');
}
