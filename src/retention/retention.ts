// Snapshots older than retention.evidenceMonths are removed, whole months at a time, after a run
// that ended well; what was decided, sent and answered never is. A month in which something
// unsettled began stays until that is settled. Neighbours: retention/retentionStore.ts does it,
// cli/setup/retention.ts shows it.

import { type Decider, TIEOUT } from '../core/instructions/decider.js';
import type { SendDeps } from '../send/deps.js';
import type { KeptMonth, RemovalVerdict, RetentionRule } from './retentionStore.js';
import { keptFrom, keptMonths, removeMonth } from './retentionStore.js';

/** The rest waits for the next run: to read a month once more takes its time. */
const REMOVED_MAX = 3;

type RetentionDeps = Pick<SendDeps, 'db' | 'config' | 'now' | 'log'>;

/** Removes what the configuration says; says of each month what became of it. */
export async function removeOldEvidence(deps: RetentionDeps): Promise<RemovalVerdict[]> {
  const { evidenceMonths: months } = deps.config.retention;
  if (months === null) return [];
  const rule = { months, lookbackDays: deps.config.reconcile.lookbackDays };
  const verdicts = await removeEvidence(deps, rule, TIEOUT, REMOVED_MAX);
  for (const verdict of verdicts) deps.log(removalSentence(verdict));
  return verdicts;
}

/** The months older than so many whole ones before this; `limit` of them, the oldest first. */
export async function removeEvidence(
  deps: Pick<RetentionDeps, 'db' | 'now'>,
  rule: RetentionRule,
  who: Decider,
  limit: number,
): Promise<RemovalVerdict[]> {
  const from = await keptFrom(deps.db, rule, deps.now());
  const verdicts: RemovalVerdict[] = [];
  let removed = 0;
  for (const month of oldMonths(await keptMonths(deps.db, from), from)) {
    if (removed >= limit) break;
    const order = { month, keptFrom: from, keptMonths: rule.months, who };
    const verdict = await removeMonth(deps.db, order);
    verdicts.push(verdict);
    if (verdict.kind === 'removed') removed += 1;
  }
  return verdicts;
}

/** Those that would go by their age alone. */
export function oldMonths(months: readonly KeptMonth[], from: string): KeptMonth[] {
  return months.filter(({ lastDate }) => lastDate < from);
}

export function removalSentence(verdict: RemovalVerdict): string {
  const { firstDate, lastDate, nights, looks, bytes, holds } = verdict.month;
  const what = `what was seen from ${firstDate} to ${lastDate}`;
  switch (verdict.kind) {
    case 'removed':
      return (
        `removed ${what}: ${nights} nights, ${looks} looks, ${megabytes(bytes)} MB; ` +
        'their digests stay in the chain'
      );
    case 'held':
      return `kept ${what}: ${holds.join('; ')}`;
    case 'altered':
      return `kept ${what}: it is not what was sealed (${verdict.link})`;
    case 'busy':
      return `kept ${what}: somebody reads looks just now; another time`;
  }
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
