// One journal of permits, and several processes of the host that write to it at once. Neighbour:
// journal.test.ts.

import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { activeBrakes } from '../../src/send/batches/sendingStatusStore.js';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import { openGuard } from '../support/guards.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

let house: House;
afterEach(() => house.end());

it('a journal that another process writes to meanwhile is none of an older database', async () => {
  house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  const here = { db: house.db, host: 'here' };
  const journalOf = () => openPermitJournal(join(house.folder, 'var'));
  const first = openGuard({ ...here, open: journalOf });
  expect(await first.verify()).toBeNull();
  const second = openGuard({
    ...here,
    open: async () => {
      const journal = await journalOf();
      // The other one gives a sign of life while this one holds the journal against the database.
      const read: typeof journal.read = async (...behind) => {
        await first.keep();
        return journal.read(...behind);
      };
      return { ...journal, read };
    },
  });
  expect(await second.verify()).toBeNull();
  await second.close();
  await first.close();
  expect(await activeBrakes(house.db)).toEqual([]);
});
