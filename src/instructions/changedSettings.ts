// Which settings that free money have changed since each account was last planned? They are
// compared with those of the newest plan that was complete, whatever became of its run: a run
// that failed before it, or was dry, has used nothing up. What they free is held (freed.sql).

import type { Config } from '../config/config.js';
import type { DescribedConfig } from '../config/view.js';
import { ConfigurationError } from '../core/errors.js';
import type { Change, MoneySettings } from '../core/instructions/freeing/freeingChange.js';
import {
  changesOf,
  isFreeing,
  isOfLedger,
  isOfMeaning,
} from '../core/instructions/freeing/freeingChange.js';
import type { Policy } from '../core/instructions/policy.js';
import { policiesOf } from '../core/instructions/policy.js';
import type { Db } from '../database/db.js';
import type { Profile } from '../gateway/document/profile.js';
import { parseProfile } from '../gateway/document/profile.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import type { AccountChange, RecordedSettings } from './freedStore.js';
import { plannedBy, recordedSettings, weighedBy } from './freedStore.js';
import { ownPolicies } from './policies.js';

/** The changes of each account of the run; mostly there are none. */
export async function changesSince(
  deps: Pick<RunDeps, 'config'>,
  run: Pick<Run, 'db' | 'accounts'>,
): Promise<AccountChange[]> {
  const { sha256 } = ownPolicies(deps);
  const plans = await weighedBy(run.db, accountIdsOf(run));
  const others = plans.filter((plan) => plan.settingsSha256 !== sha256);
  const kept = await recordedSettings(run.db, [...new Set(others.map((plan) => plan.settingsId))]);
  return others.flatMap(({ accountId, settingsId }) => {
    const before = kept.get(settingsId);
    const changes = changesFrom(before, deps.config, accountId);
    return changes.filter(isFreeing).map((change) => ({ accountId, change }));
  });
}

interface Difference {
  /** an answer, or a row of the ledger, means something else */
  meansOther: boolean;
  /** a look or an answer does, in words; null: it does not */
  looksOther: string | null;
  /** an answer to what is sent does */
  readsOther: string | null;
  goesElsewhere: boolean;
}

/**
 * How the settings here differ from those by which the account was planned last. Those of
 * its newest run say nothing, since it may not have come to its plan, or have been without the
 * account.
 */
export async function differsFrom(
  deps: Pick<RunDeps, 'config'>,
  db: Db,
  accountId: string,
): Promise<Difference> {
  const plan = await plannedBy(db, accountId);
  if (plan?.settingsSha256 === ownPolicies(deps).sha256) {
    return { meansOther: false, looksOther: null, readsOther: null, goesElsewhere: false };
  }
  const kept = await recordedSettings(db, plan === null ? [] : [plan.settingsId]);
  const before = plan === null ? undefined : kept.get(plan.settingsId);
  const changes = changesFrom(before, deps.config, accountId);
  return {
    meansOther: changes.some(isOfMeaning),
    looksOther: changes.find((one) => isOfMeaning(one) && !isOfLedger(one))?.words ?? null,
    readsOther: changes.find(({ kind }) => kind === 'answer')?.words ?? null,
    goesElsewhere: changes.some(({ kind }) => kind === 'merchant'),
  };
}

/**
 * An unknown capture or cancel is sent again after so long: the longest that the accounts of this
 * night were, or are, to wait. What a changed setting frees waits for a person.
 */
export function resendHours(
  { config }: Pick<RunDeps, 'config'>,
  changes: readonly AccountChange[],
): number | null {
  const isNew = changes.some(
    ({ change }) => change.kind === 'resend' || change.kind === 'merchant',
  );
  return isNew ? null : config.operations.resendAfterHours;
}

function changesFrom(before: RecordedSettings | undefined, config: Config, accountId: string) {
  const { settings } = ownPolicies({ config });
  const own = { settings, profile: config.gateway.profile };
  const now = moneySettings(settings, own.profile, accountId);
  if (before === undefined || before.profile === null) return unreadable(now.policies);
  const profile = profileOf(before.settings, before.profile, own);
  const changes = changesOf(moneySettings(before.settings, profile ?? own.profile, accountId), now);
  // What stands beside a profile that nobody can read can be: to whom it would go, above all.
  return profile === null ? [...unreadable(now.policies), ...changes] : changes;
}

interface OwnSettings {
  settings: DescribedConfig;
  profile: Profile;
}

/** The profile of these settings, whose text is kept; null: nobody can read it. */
function profileOf(settings: DescribedConfig, text: string, own: OwnSettings): Profile | null {
  // Mostly it is today's profile, and need not be read again: every claim asks here.
  const isToday = profileHash(settings) === profileHash(own.settings);
  return isToday ? own.profile : parsedProfile(text);
}

/** So many of the last ones are kept read: accounts were planned by few, and every claim asks. */
const PROFILES_KEPT_MAX = 8;
const read = new Map<string, Profile | null>();

/** null: nobody can read it */
function parsedProfile(text: string): Profile | null {
  const parsed = read.has(text) ? (read.get(text) ?? null) : parse(text);
  read.delete(text);
  read.set(text, parsed);
  const [oldest] = read.keys();
  if (read.size > PROFILES_KEPT_MAX && oldest !== undefined) read.delete(oldest);
  return parsed;
}

function parse(text: string): Profile | null {
  try {
    return parseProfile(text, 'the profile of the last plan', { isKept: true });
  } catch (error) {
    if (error instanceof ConfigurationError) return null;
    throw error;
  }
}

function profileHash({ gateway }: DescribedConfig): string | null {
  return gateway?.profileSha256 ?? null;
}

/** Where nobody can tell what changed, everything may have. */
function unreadable(policies: readonly Policy[]): Change[] {
  const words = 'the settings of the last plan cannot be read';
  return policies
    .filter(({ policy }) => policy === 'auto')
    .map((now) => ({ kind: 'policy', before: { ...now, policy: 'off' }, now, words }));
}

function answersOf({ results, payout, reviewFlags }: Profile): MoneySettings['answers'] {
  const list = (codes: readonly string[]) => [...codes].sort().join(', ');
  const { done, pending, failed } = payout.statuses;
  return {
    'results.accepted': list(results.accepted),
    'payout.statuses.done': list(done),
    'payout.statuses.pending': list(pending),
    'payout.statuses.failed': list(failed),
    'reviewFlags.accept': reviewFlags.accept,
    'reviewFlags.reject': reviewFlags.reject,
  };
}

function moneySettings(
  { environment, accounts, operations }: DescribedConfig,
  profile: Profile,
  accountId: string,
): MoneySettings {
  const account = accounts.find((one) => one.accountId === accountId);
  return {
    environment: environment ?? null,
    merchantId: account?.merchantId ?? null,
    liveFrom: account?.liveFrom ?? null,
    policies: policiesOf(operations),
    resendAfterHours: operations.resendAfterHours,
    statuses: profile.statuses.payment,
    found: profile.query.found,
    currencies: profile.currencies,
    partialCapture: profile.partialCapture,
    payoutUnit: profile.payout.unit,
    answers: answersOf(profile),
  };
}
