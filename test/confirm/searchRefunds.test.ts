// A search for an unknown refund is evidence for a person: it is asked once a night, kept, shown
// masked, and moves no state; without the profile's answer nothing is asked.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { searchRefunds } from '../../src/confirm/searchRefunds.js';
import { createGatewayClient } from '../../src/gateway/client.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import type { Run } from '../../src/runs/deps.js';
import type { SendDeps } from '../../src/send/deps.js';
import { httpText, type RawServer, rawServer } from '../gateway/rawServer.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { orderOf } from '../support/orders.js';
import { storeInstructions, storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const SEARCH = { path: '/v1/searchRefund', body: 'json' as const };
const ANSWER = '{"refund":"done","note":"card 4111111111111111"}';
let accounts = 0;

interface Place {
  deps: SendDeps;
  night: Run;
  server: RawServer;
  instructionId: bigint;
  lines: string[];
}

/** A partial refund that is unknown, and a gateway that answers every search alike. */
async function place(search: typeof SEARCH | null, answer: string | null): Promise<Place> {
  accounts += 1;
  const account = {
    merchantId: 'M1',
    accountId: `S${accounts}`,
    signingKey: 'k',
    liveFrom: new Date(0),
  };
  const { db } = fresh;
  const runId = await storeRun(db, account.accountId);
  const order = orderOf('O1', {
    ledger: 'captured 10.00 EUR',
    gateway: [],
    did: ['refund T1 R1 4.00 unknown', 'refund T1 R2 3.00 rejected'],
  });
  await storeInstructions(db, runId, account.accountId, [order]);
  const { rows } = await db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where account_id = $1 and state = 'unknown'`,
    [account.accountId],
  );
  const server = await rawServer({
    asked: (socket) => (answer === null ? socket.destroy() : socket.end(httpText(answer))),
  });
  const profile = { ...sandboxProfile(), operations: { ...sandboxProfile().operations } };
  profile.operations.searchRefund = search;
  const gateway = createGatewayClient({ profile, baseUrl: server.baseUrl });
  open.push(server.close, gateway.close);
  const lines: string[] = [];
  const deps = {
    db,
    gateway,
    config: { gateway: { profile } },
    log: (line: string) => lines.push(line),
  } as unknown as SendDeps;
  const night = { runId, isDry: false, accounts: [account], db } as unknown as Run;
  return { deps, night, server, instructionId: rows[0]?.instruction_id ?? 0n, lines };
}

async function sheet(instructionId: bigint) {
  return sheetOf({ db: fresh.db, refundReasonTag: false }, instructionId);
}

describe('a search for unknown refunds', () => {
  it('asks once a night for those that are unknown, and concludes nothing', async () => {
    const { deps, night, server, instructionId, lines } = await place(SEARCH, ANSWER);
    await searchRefunds(deps, night);
    await searchRefunds(deps, night);
    expect(server.connections()).toBe(1);
    expect(server.received.at(-1)).toContain('POST /v1/searchRefund');
    expect(server.received.at(-1)).toMatch(/"transaction_id":"[^"]*T1"/);
    expect(lines.length).toBe(1);
    const found = await sheet(instructionId);
    expect(found?.state).toBe('unknown');
    expect(found?.evidence).toMatchObject([{ outcome: 'answered', httpStatus: 200 }]);
  });

  it('shows what came without a card number', async () => {
    const { deps, night, instructionId } = await place(SEARCH, ANSWER);
    await searchRefunds(deps, night);
    const [evidence] = (await sheet(instructionId))?.evidence ?? [];
    expect(evidence?.body).toContain('"refund":"done"');
    expect(evidence?.body).toContain('411111******1111');
  });

  it('that gets no answer is kept as that', async () => {
    const { deps, night, instructionId } = await place(SEARCH, null);
    await searchRefunds(deps, night);
    expect((await sheet(instructionId))?.evidence).toMatchObject([
      { outcome: 'unknown', body: null },
    ]);
  });

  it('is not made where the profile does not say how', async () => {
    const { deps, night, server } = await place(null, ANSWER);
    await searchRefunds(deps, night);
    expect(server.connections()).toBe(0);
  });
});
