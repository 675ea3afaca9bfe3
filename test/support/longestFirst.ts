// The order of the test files. A file is one worker's from its first test to its last, so that one
// that takes minutes and is begun last has the machine to itself at the end: those that are known
// to take long are begun first. What a fresh clone knows of the others is their size.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Those of more than half a minute on two cores, the longest first; under test/. */
const LONG = [
  'faults/putBack',
  'faults/moneyAnswers',
  'faults/people/settingsChanged',
  'faults/whoDies',
  'faults/people/editedLedger',
  'faults/jobFailure',
  'faults/kill',
  'faults/ending',
  'faults/people/newlyFreed',
  'faults/people/poisonedLedger',
  'faults/heals',
  'faults/restart',
  'proof/schedules',
  'faults/sendBatch',
  'faults/pages',
  'faults/journal',
  'faults/stops',
  'faults/settlementKilled',
  'faults/lateServers',
  'faults/frozen',
  'web/browser',
  'cli/contract',
  'package',
  'night/nextDates',
  'night/payouts',
  'send/sendApproved',
  'database/embedded',
  'settlement/night',
  'total/summary',
  'night/profiles',
  'cli/doctor',
  'jobs/conformance',
  'night/rejectedPayouts',
  'night/otherMerchant',
  'send/poisonedSending',
  'cli/reconciliation',
  'pull/scan',
  'cli/backup',
  'cli/logs',
  'ledger/ledgerFeed',
  'ledger/ledgerTypes',
  'reports/decisions/hostileFiles',
  'audit/signedHeads',
  'night/disputes',
  'authorisations/quarter',
  'night/finalAgain',
  'web/signIn',
  'sandbox/rehearsal',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const folder = join(this.ctx.config.root, 'test');
    const long = LONG.map((name) => join(folder, `${name}.test.ts`));
    const gone = long.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`longestFirst.ts names what is not there: ${gone}`);
    const others = await super.sort(files.filter((file) => !long.includes(file.moduleId)));
    const known = long.flatMap((path) => files.filter((file) => file.moduleId === path));
    // Side by side, or none of them would find a process that one of them has just left.
    const isTogether = (file: TestSpecification) => !file.project.config.isolate;
    const alone = others.filter((file) => !isTogether(file));
    return [...known, ...alone, ...others.filter(isTogether)];
  }
}
