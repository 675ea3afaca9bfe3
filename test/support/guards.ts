// A guard of a journal beside those of a house: it is held against the database when a test says so,
// and looks at nothing by itself.

import type { JournalGuard } from '../../src/send/journal/journalGuard.js';
import { openJournalGuard } from '../../src/send/journal/journalGuard.js';

type Given = Parameters<typeof openJournalGuard>[0];

export function openGuard({
  wallClock = () => new Date(),
  environment = 'live',
  ...given
}: Pick<Given, 'db' | 'host' | 'open'> & Partial<Given>): JournalGuard {
  const monotonic = (): number => performance.now();
  return openJournalGuard({
    ...{ every: () => () => {}, monotonic, wallClock, environment },
    ...given,
  });
}
