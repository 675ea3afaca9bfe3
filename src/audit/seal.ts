// What a run leaves for others to check is made final here: outcomes get their numbers, so that
// the shop can read them in order, movements of money get their business day, and what was recorded
// gets its links in the chain (law 8 of ARCHITECTURE.md). Nothing of it decides anything; safe to
// run at any time and twice.

import { headDigest } from '../core/chain.js';
import { decisionKeys } from '../core/decisions/decisionKeys.js';
import { messageOf, unwritableWords } from '../core/errors.js';
import { postAllMovements } from '../days/daysStore.js';
import { publishOutcomes } from '../instructions/outcomesStore.js';
import { tellHeadsNotSigned, tellHeadsSigned } from '../outbox/writeAlerts.js';
import { concurrently } from '../runs/concurrently.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import { unconfiguredOf } from '../runs/runAccountsStore.js';
import { chainHeads, HOUSE_CHAIN, sealAccounts } from '../runs/runRecordStore.js';
import type { SendDeps } from '../send/deps.js';
import { signWords } from './signedHeads.js';

type SealDeps = Pick<SendDeps, 'db' | 'config' | 'log'>;

export async function seal(deps: Pick<SendDeps, 'db'>, run: Run): Promise<void> {
  await concurrently(publishOutcomes(deps.db), sealMoved(deps, run));
}

async function sealMoved(deps: Pick<SendDeps, 'db'>, run: Run): Promise<void> {
  const accountIds = accountIdsOf(run);
  await postAllMovements(deps.db, accountIds);
  const unconfigured = await unconfiguredOf(deps.db, run.runId);
  await sealAccounts(deps.db, [...accountIds, ...unconfigured, HOUSE_CHAIN], run.businessDate);
}

/** The last word of a run: who keeps this line elsewhere can tell a rewritten chain. */
export async function sealEnd(deps: SealDeps, run: Run): Promise<void> {
  await seal(deps, run);
  const heads = await chainHeads(deps.db);
  deps.log(`sealed; the chains end in ${headDigest(heads)}`);
  const ends = heads.map(({ accountId, linkNo, sha256 }) => {
    return { account: accountId, link: String(linkNo), sha256 };
  });
  const at = new Date().toISOString();
  const { config, db, log } = deps;
  const { businessDate } = run;
  const isSigned = decisionKeys(config.decisions) !== null;
  const decisions = isSigned ? { decisions: 'signed' as const } : {};
  let line: string;
  try {
    line = await signWords(config.dataDir, { kind: 'ends', at, businessDate, ends, ...decisions });
  } catch (error) {
    // The run has ended, and its facts are sealed; what is missing is told to a person.
    const folder = `what is signed under ${config.dataDir}`;
    const reason = unwritableWords(folder, error) ?? messageOf(error);
    log(`the ends of the chains could not be signed: ${reason}`, { level: 'warn' });
    await tellHeadsNotSigned(db, config, { businessDate, reason });
    return;
  }
  // Not above: where only the telling fails, they are signed all the same.
  await tellHeadsSigned(db, config, { businessDate, line });
}
