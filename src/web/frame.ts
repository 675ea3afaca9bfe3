// What the frame of a page needs to know: where this is, who is signed in, what they may see.

import type { SessionRow } from '../access/sessionsStore.js';
import { accountsFor, hasEverywhere } from '../core/access.js';
import { stopWords } from '../core/instructions/breaker.js';
import { activeBrakes } from '../send/batches/sendingStatusStore.js';
import { wordsFor } from './format.js';
import type { Frame } from './layout/layout.js';
import type { ConsoleDeps } from './visit.js';

export async function frameOf(
  deps: ConsoleDeps,
  session: SessionRow | null,
  csrf: string,
): Promise<Omit<Frame, 'title' | 'section'>> {
  const { environment, schedule, settlement } = deps.config;
  const grants = session?.grants ?? [];
  const named = grants.flatMap(({ accountId }) => accountId ?? []);
  const can: NonNullable<Frame['person']>['can'] = (right, of) => {
    if (of === 'all') return hasEverywhere(right, grants);
    const known = of === 'left' ? [...deps.accountIds, ...named] : deps.accountIds;
    return accountsFor(right, grants, known).length > 0;
  };
  const person = session === null ? null : { name: session.name, can };
  return {
    brakes: session === null ? [] : await brakesFor(deps, session),
    environment,
    person,
    csrf,
    zone: schedule.timezone,
    version: deps.version,
    hasSettlement: settlement !== null,
  };
}

/** What stops the sending of accounts that this person sees; none where nobody can say. */
async function brakesFor(deps: ConsoleDeps, { grants }: SessionRow): Promise<string[]> {
  const accounts = accountsFor('look', grants, deps.accountIds);
  const brakes = await activeBrakes(deps.db).catch(() => []);
  const words = wordsFor(deps.config.schedule.timezone);
  return brakes
    .filter(({ accountId }) => accountId === null || accounts.includes(accountId))
    .map((brake) => stopWords(brake, (at) => `${words.at(at)} ${words.zone}`));
}
