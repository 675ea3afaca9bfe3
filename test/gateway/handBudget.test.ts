// A call by hand stands still at the worst moment: its machine sleeps, its way to the gateway hangs,
// a batch is claimed beside it. What was true as somebody typed it need not be by the first byte.

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { beginCall } from '../../src/instructions/gatewayCallsStore.js';
import { SEND_BUDGET_MS } from '../../src/send/batches/attemptsStore.js';
import { sayBrake } from '../../src/send/batches/sendingStatusStore.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { ACCOUNT, httpText, type RawServer, rawServer } from './rawServer.js';
import { batchJson } from './samples.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const ANNA = { name: 'anna', isClaim: true };
const ENTRY = { transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' };
const CAPTURE = { capture_orders: [ENTRY] };

const WAITERS = `select from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`;

interface Moments {
  /** it waits for its turn, and connects after that */
  connecting?: () => Promise<void>;
  /** it is about to be on record */
  recording?: () => Promise<string | null>;
  /** it is on record, and its line on the disk */
  recorded?: () => Promise<void>;
}

/** `slept` is added to the clocks. */
async function caller(moments: Moments, slept = { steady: 0, wall: 0 }) {
  const server: RawServer = await rawServer({
    asked: (socket) => socket.end(httpText(batchJson('capture'))),
  });
  const gateway = createPaymentClient({
    profile: sandboxProfile(),
    baseUrl: server.baseUrl,
    takeToken: async () => moments.connecting?.(),
  });
  open.push(server.close, gateway.close);
  const journal = {
    verify: async () => null,
    awaited: async () => null,
    mayClaim: async () => {
      const reason = (await moments.recording?.()) ?? null;
      return reason === null ? null : { reason, isAwaited: false };
    },
    append: async () => moments.recorded?.(),
  };
  const deps = {
    db: fresh.db,
    journal,
    now: () => new Date(Date.now() + slept.wall),
    monotonic: () => performance.now() + slept.steady,
  };
  const call = async (operation: 'capture' | 'payout', fields: Record<string, unknown>) => {
    const { client, end } = journalled(deps, gateway, { operation, by: ANNA, fields });
    const report = await callGateway(client, ACCOUNT, operation, fields);
    await end(report);
    return report;
  };
  return { call, sent: () => server.received.join('') };
}

async function outcomes(): Promise<(string | null)[]> {
  const { rows } = await fresh.db.query<{ outcome: string | null }>(
    'select outcome from tieout.gateway_calls order by call_id',
  );
  return rows.map(({ outcome }) => outcome);
}

describe('a call by hand', () => {
  it('is not made where the brake was pulled while it connected', async () => {
    const word = { kind: 'brake', reason: 'a doubt', who: ANNA, accountId: null } as const;
    const { call, sent } = await caller({
      connecting: async () => void (await sayBrake(fresh.db, { ...word, isOn: true })),
    });
    await expect(call('capture', CAPTURE)).rejects.toThrow('not by hand either');
    await sayBrake(fresh.db, { ...word, isOn: false });
    expect(sent()).toBe('');
    expect(await outcomes()).toEqual([]);
  });

  it('is not made where the database is another one since it was held against the journal', async () => {
    const { call, sent } = await caller({ recording: async () => 'it was started anew' });
    await expect(call('capture', CAPTURE)).rejects.toThrow('it was started anew');
    expect(sent()).toBe('');
    expect(await outcomes()).toEqual([]);
  });

  it.each(['steady', 'wall'] as const)(
    'writes nothing past its budget, by the %s clock',
    async (clock) => {
      const slept = { steady: 0, wall: 0 };
      const { call, sent } = await caller(
        {
          recorded: async () => {
            slept[clock] += SEND_BUDGET_MS;
          },
        },
        slept,
      );
      expect(await call('capture', CAPTURE)).toMatchObject({ kind: 'not_sent' });
      expect(sent()).toBe('');
      expect((await outcomes()).at(-1)).toBe('not_sent');
      // Nobody need find out what became of it: it is typed once more.
      const again = await caller({});
      expect(await again.call('capture', CAPTURE)).toMatchObject({ kind: 'accepted' });
    },
  );

  it('sees what was being claimed as it was typed, and waits for that', async () => {
    const { call, sent } = await caller({});
    const fields = { request_id: randomUUID(), payment_amount: '7', payment_currency: 'EUR' };
    const other = { accountId: 'A2', operation: 'payout', by: ANNA, host: 'h', entries: [fields] };
    let called: Promise<unknown> = Promise.resolve();
    await fresh.db.transaction(async (tx) => {
      await tx.query(`select pg_advisory_xact_lock_shared(hashtext('tieout.claim'))`);
      await beginCall(tx, { ...other, bodySha256: '00', permitId: randomUUID() });
      called = call('payout', fields).catch((error: unknown) => error);
      await vi.waitFor(async () => expect((await fresh.db.query(WAITERS)).rowCount).toBe(1), 8_000);
    });
    expect(String(await called)).toContain('was called by hand before');
    expect(sent()).toBe('');
  });
});
