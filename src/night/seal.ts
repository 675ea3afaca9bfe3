// What a night leaves for others to check is made final here: outcomes get their numbers, so that
// the shop can read them in order. Safe to run at any time and twice.

import { publishOutcomes } from '../store/outcomes.js';
import type { Night, NightDeps } from './deps.js';

export async function seal(_deps: NightDeps, night: Night): Promise<void> {
  await publishOutcomes(night.db);
}
