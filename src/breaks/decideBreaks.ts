// A person's decision about one break or many: for the command line with a claimed name, for the
// console with one that logged in. One transaction; each break gets its own verdict and its own
// line in the trail, and one that refuses does not keep the others from being decided.

import type { BreakAction, BreakVerdict } from '../core/breaks/breakDecision.js';
import { decideBreak, decideSeenBreak, waivedAloneMax } from '../core/breaks/breakDecision.js';
import { isChange } from '../core/breaks/outcome.js';
import { UsageError } from '../core/errors.js';
import type { Decider } from '../core/instructions/decider.js';
import { wordsProblem } from '../core/instructions/decider.js';
import { formatAmount, type Hundredths } from '../core/money.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Tx } from '../database/db.js';
import type { RunDeps } from '../runs/deps.js';
import type { HeldBreak } from './breakDecisionsStore.js';
import { changesSince, holdBreaks, saidSince, writeDecision } from './breakDecisionsStore.js';

/** Breaks that one decision may cover; a larger set is a question of settings, not of breaks. */
export const DECIDED_MAX = 10_000;

interface BreakRequest {
  readonly ids: readonly string[];
  readonly action: BreakAction;
  readonly who: Decider;
  /** how the set was chosen, in words; null where each break was named */
  readonly over: string | null;
  /** what each was seen with, and the newest event then; without it it is decided as it is now */
  readonly seen?: ReadonlyMap<string, SeenBreak>;
  /** the number of a decision that is written in parts; without it each call is one decision */
  readonly decisionId?: string;
  /** says what would happen and changes nothing */
  readonly check?: boolean;
  /** accounts where this person may waive; elsewhere only agree. Absent: all of them */
  readonly mayWaive?: readonly string[] | undefined;
}

export interface SeenBreak {
  readonly seen: string;
  readonly last: string;
}

/** `which` is the kind of break; `kind` is what was decided about it. */
export type DecidedBreakRow = Pick<HeldBreak, 'breakId' | 'accountId' | 'orderNo' | 'currency'> & {
  readonly which: HeldBreak['kind'];
  /** the money in it; null: nobody can say */
  readonly amount: string | null;
} & BreakVerdict;

export type DecideDeps = Pick<RunDeps, 'db' | 'now' | 'newId'> & {
  readonly config: {
    readonly operations: Pick<RunDeps['config']['operations'], 'approveAbove'>;
  };
};

/** One row for each break that exists, by account and order. */
export async function decideBreaks(
  deps: DecideDeps,
  request: BreakRequest,
): Promise<DecidedBreakRow[]> {
  requireWords(request);
  const approveAbove = deps.config.operations.approveAbove.refund;
  return deps.db.transaction(async (tx) => {
    const held = await holdBreaks(tx, request.ids);
    // Before it is weighed: what was said already, and stands on each, is on record without them.
    const action = storedAction(
      request.action,
      held.flatMap(({ orderNo, transactions }) => [orderNo, ...transactions.filter(isText)]),
    );
    const verdictOn = await judgeOf(tx, { ...request, action }, held);
    const decided = held.map((one) => {
      const limit = waivedAloneMax(approveAbove, one.currency);
      return { one, limit, verdict: verdictOn(one, limit) };
    });
    const changing = decided
      .filter(({ verdict }) => isChange(verdict.kind))
      .map(({ one, limit, verdict }) => ({
        breakId: one.breakId,
        verdict: verdict.kind,
        limit: formatAmount(limit),
      }));
    if (request.check !== true && changing.length > 0) {
      const { who, over, decisionId: id = deps.newId() } = request;
      const decision = { action, who, over, at: deps.now(), id };
      await writeDecision(tx, changing, decision);
    }
    return decided.sort(byOrder).map(({ one, verdict }) => ({
      breakId: one.breakId,
      accountId: one.accountId,
      orderNo: one.orderNo,
      which: one.kind,
      amount: one.stake,
      currency: one.currency,
      ...verdict,
    }));
  });
}

const isText = (one: unknown): one is string => typeof one === 'string';

/** Whatever a person types may hold a card number; numbers of these orders are none. */
export function storedAction(action: BreakAction, keep: readonly string[]): BreakAction {
  switch (action.kind) {
    case 'note':
      return { ...action, text: withoutCards(action.text, keep) };
    case 'assign':
      return {
        ...action,
        owner: action.owner && withoutCards(action.owner, keep),
        ...(action.reason === undefined ? {} : { reason: withoutCards(action.reason, keep) }),
      };
    default:
      return { ...action, reason: withoutCards(action.reason, keep) };
  }
}

/** Decides about one that is held; what it was seen with is looked up for all of them before. */
async function judgeOf(
  tx: Tx,
  { action, who, seen, mayWaive }: BreakRequest,
  held: readonly HeldBreak[],
): Promise<(one: HeldBreak, limit: Hundredths) => BreakVerdict> {
  const said = seen === undefined ? null : await saidSince(tx, seen);
  const changed = held.flatMap(({ breakId, seenSha256 }): [string, SeenBreak][] => {
    const then = seen?.get(breakId);
    return then === undefined || then.seen === seenSha256 ? [] : [[breakId, then]];
  });
  const changes = await changesSince(tx, new Map(changed));
  return (one, limit) => {
    const then = seen?.get(one.breakId);
    const may = mayWaive?.includes(one.accountId) ?? true;
    if (then === undefined) return decideBreak(one, action, who, limit, may);
    const change = one.seenSha256 === then.seen ? null : (changes.get(one.breakId) ?? '');
    const since = said?.get(one.breakId) ?? [];
    return decideSeenBreak(one, action, who, limit, { change, since }, may);
  };
}

function byOrder({ one: a }: { one: HeldBreak }, { one: b }: { one: HeldBreak }): number {
  const [keyA, keyB] = [a, b].map((one) => [one.accountId, one.orderNo, one.kind].join(' '));
  return (keyA ?? '') < (keyB ?? '') ? -1 : 1;
}

function requireWords({ ids, action, who }: BreakRequest): void {
  if (ids.length > DECIDED_MAX) {
    throw new UsageError(`one decision covers at most ${DECIDED_MAX} breaks: narrow it down`);
  }
  const named = wordsProblem(who.name);
  if (named !== null) throw new UsageError(`the name of who decides ${named}`);
  if (action.kind === 'assign') {
    const problem = action.owner === null ? null : wordsProblem(action.owner);
    if (problem !== null) throw new UsageError(`the owner ${problem}`);
    return;
  }
  const problem = wordsProblem(action.kind === 'note' ? action.text : action.reason);
  if (problem !== null) throw new UsageError(`the ${WORDS_OF[action.kind]} ${problem}`);
}

const WORDS_OF = { note: 'note', waive: 'reason', reopen: 'reason' } as const;
