// What `tieout doctor` says of sending: the journal of permits held against the database, as the
// next night will, and what stops all sending or that of an account. It freezes nothing.

import { ownJournal } from '../../../brake/brake.js';
import { brakeAndCure } from '../../../core/instructions/breaker.js';
import { activeBrakes } from '../../../send/batches/sendingStatusStore.js';
import { journalNow } from '../../../send/journal/journalDifferences.js';
import { absentWords } from '../../../send/journal/journalGuard.js';
import { absentHosts } from '../../../send/journal/journalsStore.js';
import type { App } from '../../app.js';
import type { Check } from './check.js';

export async function sendingChecks(app: App): Promise<Check[]> {
  const own = ownJournal(app.config);
  const brakes = await activeBrakes(app.db);
  const isFrozen = brakes.some(({ kind }) => kind === 'freeze');
  const standing = brakes.map((brake): Check => {
    const words = brakeAndCure(brake);
    return { name: 'sending', kind: brake.kind === 'freeze' ? 'problem' : 'warning', words };
  });
  // Who lets a freeze go lets the other hosts go with it: to be sent there first leads in a circle.
  const absent = isFrozen ? [] : await absentHosts(app.db, { journalId: null, place: own });
  return [
    await journalCheck(app, own.host, isFrozen),
    ...standing,
    ...(absent.length === 0
      ? []
      : [{ name: 'sending', kind: 'warning' as const, words: absentWords(absent) }]),
  ];
}

async function journalCheck({ db, config }: App, host: string, isFrozen: boolean): Promise<Check> {
  const name = 'journal';
  const { isThere, found } = await journalNow(db, { host, dataDir: config.dataDir });
  if (found !== null) {
    const comes = isFrozen ? 'all sending is frozen' : 'who sends next freezes all sending';
    const words = `${found}: ${comes} (RUNBOOK, When nothing is sent)`;
    return { name, kind: 'problem', words };
  }
  const words = isThere ? 'the database knows all of its permits' : 'none on this host yet';
  return { name, kind: 'ok', words };
}
