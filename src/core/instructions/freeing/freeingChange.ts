// Which settings that free money have changed since an account was last planned, in which words?
// What would not have gone by the settings of then waits for a person, once. Pure: the settings of
// two runs in, what freed.sql joins out. Neighbours: instructions/changedSettings.ts reads the
// settings, policy.ts weighs by those of today, freeingKeys.ts has every key there is.

import { moreOf } from '../../text/amounts.js';
import { NOW_HISTORY } from '../becameHistory.js';
import type { Policy } from '../policy.js';

/** What of the settings decides whether a movement goes, for one account. */
export interface MoneySettings {
  /** null: it is not on record */
  environment: string | null;
  /** null: the account was not in the configuration */
  merchantId: string | null;
  liveFrom: string | null;
  policies: readonly Policy[];
  resendAfterHours: number | null;
  /** payment_status to state */
  statuses: Readonly<Record<string, string>>;
  /** query_result of an entry that is one */
  found: readonly string[];
  currencies: Readonly<Record<string, number>>;
  partialCapture: boolean;
  payoutUnit: string | null;
  /** what an answer to a batch means, and what a review says: each with its codes */
  answers: Readonly<Record<string, string>>;
}

/** A setting that changed: what it bears on, and what is said of it. */
export type Change =
  /** all of the account, also what was approved: it would go elsewhere than before */
  | { kind: 'merchant'; words: string }
  /** requests from `from` to before `until` were history, or are now */
  | { kind: 'live_from'; from: string; until: string; words: string }
  /** orders that show one of these */
  | { kind: 'payment_status' | 'query_result'; values: string[]; words: string }
  | { kind: 'currency'; values: string[]; words: string }
  /** orders to be captured in part */
  | { kind: 'partial_capture'; words: string }
  | { kind: 'payout_unit'; words: string }
  /** of this operation, what the policy of then would have held and that of now lets go */
  | { kind: 'policy'; before: Policy; now: Policy; words: string }
  /** what was past the limit of one run, or was alone too much for any run */
  | { kind: 'limit'; before: Policy; now: Policy; words: string }
  /** unknown captures and cancels */
  | { kind: 'resend'; words: string }
  /** nothing: whoever sends reads the answer by it, or says another thing with it */
  | { kind: 'answer'; words: string };

/** One that may let money go, and what it frees is held. */
export type FreeingChange = Exclude<Change, { kind: 'answer' }>;

export function isFreeing(change: Change): change is FreeingChange {
  return change.kind !== 'answer';
}

export function changesOf(before: MoneySettings, now: MoneySettings): Change[] {
  return [
    ...merchantChange(before, now),
    ...liveFromChange(before.liveFrom, now.liveFrom),
    ...statusChange(before.statuses, now.statuses),
    ...foundChange(before.found, now.found),
    ...currencyChange(before.currencies, now.currencies),
    ...(before.partialCapture === now.partialCapture
      ? []
      : [{ kind: 'partial_capture' as const, words: wordsOf('partialCapture', before, now) }]),
    ...(before.payoutUnit === now.payoutUnit
      ? []
      : [
          {
            kind: 'payout_unit' as const,
            words: said('payout.unit', before.payoutUnit, now.payoutUnit),
          },
        ]),
    ...now.policies.flatMap((policy) => policyChanges(policy, before.policies)),
    ...answerChange(before.answers, now.answers),
    ...(isSooner(before.resendAfterHours, now.resendAfterHours)
      ? [
          {
            kind: 'resend' as const,
            words: wordsOf('resendAfterHours', before, now, 'operations.'),
          },
        ]
      : []),
  ];
}

/** Changes of what an answer of the gateway or a row of the ledger means, not of what may go. */
export function isOfMeaning({ kind }: Change): boolean {
  return kind !== 'policy' && kind !== 'limit' && kind !== 'resend' && kind !== 'live_from';
}

/** Of these, what neither a look nor an answer is read by. */
export function isOfLedger({ kind }: Change): boolean {
  return kind === 'payout_unit' || kind === 'partial_capture';
}

/** One at most: what waits bears one sentence. A test gateway pays nobody, a live one everybody. */
function merchantChange(before: MoneySettings, now: MoneySettings): Change[] {
  const elsewhere = (['environment', 'merchantId'] as const).find(
    (key) => before[key] !== null && now[key] !== null && before[key] !== now[key],
  );
  if (elsewhere === undefined) return [];
  const setting = elsewhere === 'merchantId' ? 'accounts[].merchantId' : elsewhere;
  return [{ kind: 'merchant', words: said(setting, before[elsewhere], now[elsewhere]) }];
}

function liveFromChange(before: string | null, now: string | null): Change[] {
  if (before === null || now === null || before === now) return [];
  const [from, until] = Date.parse(before) < Date.parse(now) ? [before, now] : [now, before];
  return [{ kind: 'live_from', from, until, words: said('accounts[].liveFrom', before, now) }];
}

/** Why the request of an instruction that waited is history, in the words that it bears. */
export function historyReason(changes: readonly Change[], liveFrom: Date | null): string {
  const change = changes.find(({ kind }) => kind === 'live_from');
  const words = change?.words ?? `accounts[].liveFrom: ${liveFrom?.toISOString()}`;
  return `${NOW_HISTORY}: ${words}`;
}

/** A sentence with more codes than this is not read any more. */
const CODES_NAMED_MAX = 5;

function statusChange(before: MoneySettings['statuses'], now: MoneySettings['statuses']): Change[] {
  const values = differing(before, now);
  if (values.length === 0) return [];
  const told = values
    .slice(0, CODES_NAMED_MAX)
    .map(
      (code) => `${code} meant ${before[code] ?? 'nothing'} before, then ${now[code] ?? 'nothing'}`,
    );
  const all = [...told, ...moreOf(values.length - told.length)];
  const words = `statuses.payment: ${all.join('; ')}`;
  return [{ kind: 'payment_status', values, words }];
}

function foundChange(before: readonly string[], now: readonly string[]): Change[] {
  const values = now.filter((code) => !before.includes(code));
  if (values.length === 0) return [];
  const words = said('query.found', before.join(', '), now.join(', '));
  return [{ kind: 'query_result', values, words }];
}

function answerChange(before: MoneySettings['answers'], now: typeof before): Change[] {
  const keys = differing(before, now);
  if (keys.length === 0) return [];
  return [
    {
      kind: 'answer',
      words: keys.map((key) => said(key, before[key] || 'none', now[key] || 'none')).join('; '),
    },
  ];
}

function currencyChange(
  before: MoneySettings['currencies'],
  now: MoneySettings['currencies'],
): Change[] {
  const values = differing(before, now);
  if (values.length === 0) return [];
  const told = values.slice(0, CODES_NAMED_MAX).map((code) => said(code, before[code], now[code]));
  return [{ kind: 'currency', values, words: `currencies: ${told.join('; ')}` }];
}

function policyChanges(now: Policy, all: readonly Policy[]): Change[] {
  const before = all.find((one) => one.operation === now.operation);
  if (before === undefined) return [];
  const name = now.operation;
  const changes: Change[] = [];
  const isFreer = before.policy !== now.policy || !isEqual(before.above, now.above);
  if (now.policy === 'auto' && isFreer) {
    const words =
      before.policy === now.policy
        ? said(`operations.approveAbove.${name}`, amounts(before.above), amounts(now.above))
        : said(`operations.${name}`, before.policy, now.policy);
    changes.push({ kind: 'policy', before, now, words });
  }
  if (before.maxCount !== now.maxCount || !isEqual(before.maxAmount, now.maxAmount)) {
    const words = said(`operations.maxPerRun.${name}`, limits(before), limits(now));
    changes.push({ kind: 'limit', before, now, words });
  }
  return changes;
}

function limits({ maxCount, maxAmount }: Policy): string | null {
  const parts = [maxCount === null ? null : String(maxCount), amounts(maxAmount)];
  const given = parts.filter((part) => part !== null && part !== '');
  return given.length === 0 ? null : given.join(', ');
}

function amounts(given: Readonly<Record<string, string>> | null): string | null {
  if (given === null) return null;
  return Object.entries(given)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(', ');
}

/** null: never by itself */
function isSooner(before: number | null, now: number | null): boolean {
  return now !== null && (before === null || now < before);
}

function differing(before: Readonly<Record<string, unknown>>, now: typeof before): string[] {
  const codes = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...codes].filter((code) => before[code] !== now[code]).sort();
}

function isEqual(one: Policy['above'], other: Policy['above']): boolean {
  if (one === null || other === null) return one === other;
  return differing(one, other).length === 0;
}

function wordsOf(
  key: 'partialCapture' | 'resendAfterHours',
  before: MoneySettings,
  now: MoneySettings,
  path = '',
): string {
  return said(`${path}${key}`, before[key], now[key]);
}

/** It stays with what was freed, and has to be true when the setting was put back, too. */
function said(setting: string, before: unknown, now: unknown): string {
  return `${setting}: ${before ?? 'not given'} before, then ${now ?? 'not given'}`;
}
