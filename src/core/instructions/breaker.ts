// May an account send at all, and how much? The canary, the breaker and the brakes as one pure
// question over facts that every worker reads anew right before a send. send/sendBatch.ts begins
// the canary; recordOutcomes.sql says whether its answer was understood, and trips the breaker. It
// knows nothing of orders: whether an instruction is still wanted is asked elsewhere
// (decideVerdict.ts).

import { joinParts } from '../accounts/alike.js';
import type { LiveFrom } from '../accounts/observed.js';
import { unsentWords } from '../accounts/observed.js';
import { oneLine } from '../log.js';
import { counted, countText } from '../text/amounts.js';

/** How far the sending of an account has come in a run; the CHECK in the database has the same. */
export const SENDING_STATES = ['untried', 'canary', 'open', 'stopped'] as const;
export type SendingState = (typeof SENDING_STATES)[number];

/**
 * Every legal move; `stopped` to `untried` is a person's, or a snapshot's that showed all of it.
 */
export const SENDING_MOVES: Record<SendingState, readonly SendingState[]> = {
  untried: ['canary', 'stopped'],
  canary: ['untried', 'open', 'stopped'],
  open: ['stopped'],
  stopped: ['untried'],
};

/** So many batches in a row with an unknown entry stop the account for the rest of the run. */
export const UNCLEAN_BATCHES_MAX = 2;

export interface Brake {
  /** `brake`: a person's; `freeze`: tieout's own, when database and journals do not agree */
  kind: 'brake' | 'freeze';
  /** null: every account */
  accountId: string | null;
  reason: string;
  by: string;
  at: Date;
}

/** So often a run lets an account begin again whose unknown entries a snapshot has shown. */
export const BEGIN_AGAIN_MAX = 3;

export interface SendingFacts {
  accountId: string;
  /** false: the account has no run */
  hasRun: boolean;
  /** why its newest run sends nothing, in the words of run_accounts.send_block */
  block: string | null;
  state: SendingState;
  /** why it is stopped */
  reason: string | null;
  brakes: readonly Brake[];
  /** when this was asked, by the clock of the database */
  at: Date;
}

export type SendingAnswer =
  | { kind: 'open' }
  /** only a batch of one may go: the canary */
  | { kind: 'canary' }
  /** the canary is on its way; what waits is enqueued again when its answer was understood */
  | { kind: 'wait' }
  | { kind: 'stop'; by: StoppedBy; reason: string };

type StoppedBy = Brake['kind'] | 'no_run' | 'block' | 'breaker' | 'configuration';

/** `accounts` are those of the configuration of whoever asks. */
export function mayAccountSend(
  facts: SendingFacts,
  accounts: readonly LiveFrom[],
  said: (at: Date) => string = inUtc,
): SendingAnswer {
  const [brake] = facts.brakes;
  if (brake) {
    return { kind: 'stop', by: brake.kind, reason: brakeAndCure(brake, said) };
  }
  // Before the newest run is asked, which began by the configuration of then.
  const unsent = unsentWords(facts.accountId, accounts, facts.at);
  if (unsent !== null) {
    const isOurs = accounts.some(({ accountId }) => accountId === facts.accountId);
    const reason = isOurs ? unsent : `${unsent}; ${endWords(facts.accountId)}`;
    return { kind: 'stop', by: 'configuration', reason };
  }
  if (!facts.hasRun) return { kind: 'stop', by: 'no_run', reason: 'the account has no run' };
  if (facts.block !== null) {
    return { kind: 'stop', by: 'block', reason: `nothing of the account is sent: ${facts.block}` };
  }
  switch (facts.state) {
    case 'stopped':
      return {
        kind: 'stop',
        by: 'breaker',
        reason:
          `${SENDING_STOPPED} for account ${facts.accountId} for the rest of the run: ` +
          `${facts.reason ?? ''}; ${letGoWords(facts.accountId)}`,
      };
    case 'canary':
      return { kind: 'wait' };
    case 'untried':
      return { kind: 'canary' };
    case 'open':
      return { kind: 'open' };
  }
}

/** What else a person may do about what waits of an account that is not configured. */
function endWords(accountId: string): string {
  const list = `\`tieout instructions list --account ${accountId}\``;
  return `reject what is to be sent no more (${list})`;
}

/** Whether a person lets it go with `tieout brake off`. */
export function isLetGo(answer: SendingAnswer): boolean {
  return answer.kind === 'stop' && LET_GO.has(answer.by);
}

const LET_GO: ReadonlySet<StoppedBy> = new Set(['brake', 'freeze', 'breaker']);

/** What stands, since when and why, and what a person types. */
export function brakeAndCure(brake: Brake, said: (at: Date) => string = inUtc): string {
  return `${brakeWords(brake, said)}; ${letGoWords(brake.accountId)}`;
}

/** What a person types, to the letter: it stands wherever a stop is told. */
export function letGoWords(accountId: string | null): string {
  const scope = accountId === null ? '' : ` --account ${accountId}`;
  return `to resume: tieout brake off${scope} --reason TEXT`;
}

/** What becomes of what waits and nothing stops; what nobody approved waits for a run. */
export const WHO_SENDS =
  'a running worker does it by itself. Without one, `tieout send` sends what was approved, and ' +
  'the next run the rest too';

/** What each sentence about a person's stop, or one for the rest of a run, begins with. */
export const SENDING_STOPPED = 'sending is stopped';

/** What a person typed comes into logs and summaries in one line, without card numbers. */
const REASON_LENGTH = 500;

/** For who is told already that sending is stopped; `said` puts an instant in words. */
export function stopWords(
  { kind, accountId, reason, by, at }: Brake,
  said: (at: Date) => string,
): string {
  const what = accountId === null ? 'all accounts' : `account ${accountId}`;
  const who = kind === 'brake' ? oneLine(`${by}: ${reason}`, REASON_LENGTH) : reason;
  return `for ${what} since ${said(at)} (${who})`;
}

/** What has left, or may leave: a brake lets it come to its end. */
export interface SendsUnderWay {
  batches: number;
  /** calls of a person (`tieout gateway`) */
  byHand: number;
}

/** Null: nothing is. */
export function underWayWords({ batches, byHand }: SendsUnderWay): string | null {
  const parts = [
    ...(batches > 0 ? [batches === 1 ? '1 batch' : `${countText(batches)} batches`] : []),
    ...(byHand > 0 ? [`${counted(byHand, 'call')} by hand`] : []),
  ];
  return parts.length > 0 ? `On the way, and will come to an end: ${joinParts(parts)}.` : null;
}

/** `said` puts the instant in words, UTC where it is not given. */
export function brakeWords(brake: Brake, said: (at: Date) => string = inUtc): string {
  if (brake.kind === 'brake') return `${SENDING_STOPPED} ${stopWords(brake, said)}`;
  const what = brake.accountId === null ? 'all sending' : `account ${brake.accountId}`;
  return `${what} is frozen since ${said(brake.at)}: ${brake.reason}`;
}

/** Whether it was kept of a stop that a person lets go, and is past where the account may send. */
export function isOfStop(reason: string): boolean {
  return (
    [SENDING_STOPPED, STARTED_ANEW].some((head) => reason.startsWith(head)) || FROZEN.test(reason)
  );
}

/** What the sentence about hosts that are to hold their journals first begins with. */
export const STARTED_ANEW = 'the database was started anew';

const FROZEN = /^(all sending|account \S+) is frozen since /;

/** How a sentence of a night, or of a freeze, ends: a person has to resume sending. */
export function standingWords({ kind, accountId, reason }: Omit<Brake, 'by' | 'at'>): string {
  const whom = accountId === null ? 'all accounts' : `account ${accountId}`;
  const why = kind === 'brake' ? ' by a person' : `: ${reason}`;
  return `${SENDING_STOPPED} for ${whom}${why}; ${letGoWords(accountId)}`;
}

/** What a person has just let go: it holds no longer. */
export function liftedWords(lifted: Brake): string {
  const what = lifted.kind === 'brake' ? 'the stop' : 'the freeze';
  return `${what} ${stopWords(lifted, inUtc)}`;
}

function inUtc(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
