// What a night tells of what waits: one cause is one line, whichever hosts met it and at whatever
// second, and what is past the third is summed, so that the lines come to what waits.

import { expect, it, onTestFinished } from 'vitest';
import { splitBatch } from '../../src/send/batches/sendingStatusStore.js';
import { stopNotices } from '../../src/send/stops.js';
import { prepareRun } from '../faults/preparedRun.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

const clock = (seconds: number, way = 'ahead of') =>
  `the clock of this host is ${seconds} s ${way} the database's: set the one that is wrong`;

/** A batch for each reason, with one instruction in each. */
async function waitingFor(reasons: readonly (string | null)[]): Promise<House> {
  const inLedger = kinds({ capture_due: reasons.length }, 'A1001');
  const house = await buildHouse({ orders: 3_000, inLedger });
  onTestFinished(() => house.end());
  const { batchIds } = await prepareRun(house);
  expect(batchIds).toHaveLength(1);
  const { rows } = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where state = 'queued' order by 1`,
  );
  const ids = rows.map(({ id }) => id);
  expect(ids).toHaveLength(reasons.length);
  for (let batchId = batchIds[0] ?? 0n; ids.length > 1; ) {
    await splitBatch(house.db, batchId, [ids.shift() ?? 0n]);
    const rest = await house.db.query<{ id: bigint }>(
      'select max(batch_id) as id from tieout.batches',
    );
    batchId = rest.rows[0]?.id ?? 0n;
  }
  await house.db.query(
    `update tieout.batches b set reason = r.reason
     from unnest($1::text[]) with ordinality r (reason, n),
       (select batch_id, row_number() over (order by batch_id) as n from tieout.batches) i
     where i.batch_id = b.batch_id and i.n = r.n`,
    [reasons],
  );
  return house;
}

async function told(house: House): Promise<string[]> {
  return (await stopNotices(await house.open(), ['A1001'])).map(({ text }) => text);
}

it('hosts that met the same are joined behind it, at whatever second they met it', async () => {
  const refused = 'connect ECONNREFUSED 10.0.0.1:443';
  const house = await waitingFor([
    `${refused} (host c)`,
    `${refused} (host a)`,
    `${refused} (host a)`,
    `${refused} (host b)`,
    `${clock(3599)} (host a)`,
    `${clock(3601)} (host a)`,
    null,
  ]);
  const found = await told(house);
  expect(found).toEqual([
    `sending is stopped: ${refused} (hosts a, b, c); 4 instructions wait`,
    expect.stringMatching(/the clock of this host is 3\d+ s ahead .* \(host a\); 2 instructions/),
    'sending is stopped: its turn did not come; 1 instruction waits',
  ]);
});

it('what is past the third reason is summed, and other numbers are other reasons', async () => {
  const house = await waitingFor([
    ...Array.from({ length: 3 }, () => 'the gateway answered 500 (host a)'),
    ...Array.from({ length: 2 }, () => 'the gateway answered 503 (host a)'),
    clock(70),
    clock(70, 'behind'),
    'it changed while it was claimed',
  ]);
  const found = await told(house);
  expect(found.slice(0, 2)).toEqual([
    'sending is stopped: the gateway answered 500 (host a); 3 instructions wait',
    'sending is stopped: the gateway answered 503 (host a); 2 instructions wait',
  ]);
  expect(found.at(-1)).toBe('sending is stopped: and 2 more reasons; 2 instructions wait');
  expect(found).toHaveLength(4);
});
