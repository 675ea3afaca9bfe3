// The codes that the sandbox answers with: of each meaning the profile's first one, so that a
// night is rehearsed with the profile that goes live, and one of its own where the profile has
// none. Pure.

import type { Profile } from '../../gateway/document/profile.js';

/** The first code that the map gives this meaning. */
function firstOf<T extends string>(
  meanings: Readonly<Record<string, T>>,
  meaning: NoInfer<T>,
  own: string,
): string {
  return Object.entries(meanings).find(([, means]) => means === meaning)?.[0] ?? own;
}

/** recurring_status of a contract that runs, and of one that was ended. */
export function recurringCode({ statuses }: Profile, isEnded: boolean): string {
  const { recurring } = statuses;
  return isEnded ? firstOf(recurring, 'ended', '0') : firstOf(recurring, 'active', '1');
}

export function riskCode({ statuses }: Profile, action: 'accept' | 'review'): string {
  return firstOf(statuses.risk, action, action.toUpperCase());
}

const OWN_PAYOUT = { done: 'COMPLETED', pending: 'PENDING', failed: 'FAILED' } as const;

export function payoutCode({ payout }: Profile, meaning: keyof typeof OWN_PAYOUT): string {
  return payout.statuses[meaning][0] ?? OWN_PAYOUT[meaning];
}
