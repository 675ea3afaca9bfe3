// A movement of money that a person makes by hand is on record before its first byte, with who, what
// and the digest of the body, and never with a card; without a record there is no call.

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CallName, type CallReport, callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { paidByHandNotices, payoutsByHandNotices } from '../../src/core/runs/pendingPayouts.js';
import type { Database } from '../../src/database/db.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { sayBrake } from '../../src/send/batches/sendingStatusStore.js';
import { unknownPermits } from '../../src/send/journal/journalsStore.js';
import type { PermitLine } from '../../src/send/journal/permitSegments.js';
import { paidByHand, payoutsByHand } from '../../src/total/anomaliesStore.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { ACCOUNT, httpText, type RawServer, rawServer } from './rawServer.js';
import { batchJson, CARD, PAYMENT, PAYOUT, paymentXml, payoutJson, QUERY_JSON } from './samples.js';

const HOUR = 3_600_000;

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const CAPTURE = {
  capture_orders: [
    { transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' },
    { transaction_id: 'T2', order_no: 'SO-2', currency: 'EUR', amount: '20.00' },
  ],
};

function clocked(db: Database) {
  return { db, now: () => new Date(), monotonic: () => performance.now() };
}

interface Called {
  report: CallReport;
  server: RawServer;
}

/** As the command does it; `asked` runs when the request has arrived and nothing was answered. */
async function call(
  operation: CallName,
  fields: Record<string, unknown>,
  answer: string | null,
  asked: () => Promise<void> = async () => {},
): Promise<Called> {
  const server = await rawServer({
    asked: (socket) => {
      void asked().then(() => (answer === null ? socket.destroy() : socket.end(httpText(answer))));
    },
  });
  const gateway = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
  open.push(server.close, gateway.close);
  const by = { name: 'anna', isClaim: true };
  const journal = journalled(clocked(fresh.db), gateway, { operation, by, fields });
  const report = await callGateway(journal.client, ACCOUNT, operation, fields);
  await journal.end(report);
  return { report, server };
}

async function calls(): Promise<Record<string, unknown>[]> {
  const { rows } = await fresh.db.query(
    `select operation, called_by as by, is_claim, encode(body_sha256, 'hex') as sha256, entries, outcome, reason
     from tieout.gateway_calls order by call_id`,
  );
  return rows;
}

describe('a call that moves money', () => {
  it('is on record before it is answered, and says afterwards what became of it', async () => {
    let before: Record<string, unknown> | undefined;
    const { server } = await call('capture', CAPTURE, batchJson('capture'), async () => {
      before = (await calls()).at(-1);
    });
    expect(before).toMatchObject({ operation: 'capture', by: 'anna', is_claim: true });
    expect(before).toMatchObject({ entries: CAPTURE.capture_orders, outcome: null });
    const sent = server.received.at(-1)?.split('\r\n\r\n')[1] ?? '';
    expect(before?.sha256).toBe(createHash('sha256').update(sent).digest('hex'));
    expect((await calls()).at(-1)?.outcome).not.toBeNull();
  });

  it('stands in the history of each order that it named', async () => {
    for (const [orderNo, transaction] of [
      ['SO-1', 'T1'],
      ['SO-2', 'T2'],
    ] as const) {
      const history = await orderHistory(fresh.db, ACCOUNT.accountId, orderNo);
      expect(history?.calls).toMatchObject([
        { operation: 'capture', by: 'anna', entries: [{ transaction_id: transaction }] },
      ]);
    }
    expect(await orderHistory(fresh.db, ACCOUNT.accountId, 'SO-3')).toBeNull();
  });

  it('stands beside amounts that are told to the last digit', async () => {
    await fresh.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
         values ($1, 'SO-4', 'EUR', 900000000000000010.10, 'captured', now())`,
      [ACCOUNT.accountId],
    );
    await fresh.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at) values ($1, 'R-4', 'SO-4', 2.00, now())`,
      [ACCOUNT.accountId],
    );
    const history = await orderHistory(fresh.db, ACCOUNT.accountId, 'SO-4');
    expect(history?.ledger).toMatchObject({
      amount: '900000000000000010.10',
      capture_amount: null,
    });
    expect(history?.refundRequests).toMatchObject([{ refund_amount: '2.00' }]);
  });

  it('names a payout as the ledger does, and what is long by all of it', async () => {
    const id = '0000000A-000b-4000-8000-00000000000C';
    const payout = { request_id: id, payment_amount: '7', payment_currency: 'EUR' };
    await call('payout', payout, null);
    const { rows } = await fresh.db.query('select from tieout.calls_by_hand($1)', [
      id.toLowerCase(),
    ]);
    expect(rows).toHaveLength(1);
    const [entry] = CAPTURE.capture_orders;
    const long = { ...entry, transaction_id: 'T'.repeat(512), order_no: 'O'.repeat(512) };
    await call('capture', { capture_orders: [long] }, null);
    expect((await calls()).at(-1)).toMatchObject({ entries: [long] });
  });

  it('is not made twice for one payout request, by whomever', async () => {
    const fields = { request_id: randomUUID(), payment_amount: '7', payment_currency: 'EUR' };
    await call('payout', fields, null);
    const again = { ...fields, request_id: fields.request_id.toUpperCase() };
    await expect(call('payout', again, null)).rejects.toThrow(
      /before \(call \d+ of anna at \S+Z: nobody knows .* under another request_id$/,
    );
    expect((await calls()).at(-1)).toMatchObject({ operation: 'payout', outcome: 'not_sent' });
    await call('payout', { ...fields, request_id: randomUUID() }, null);
    expect((await calls()).at(-1)).toMatchObject({ operation: 'payout', outcome: 'unknown' });
  });

  it('that pays, and whose end nobody knows, is told by each night and shown by its request', async () => {
    const id = randomUUID();
    const fields = { request_id: id.toUpperCase(), payment_amount: '7', payment_currency: 'EUR' };
    await call('payout', fields, null);
    const { accountId } = ACCOUNT;
    const found = await payoutsByHand(fresh.db, [accountId]);
    expect(found[0]).toMatchObject({ by: 'anna', requestId: id, printed: '7 EUR' });
    expect(payoutsByHandNotices(found)[0]?.text).toMatch(
      new RegExp(`: ${id} \\(call \\d+ of anna at \\S+Z: 7 EUR, unknown\\)`),
    );
    const history = await orderHistory(fresh.db, accountId, id.toUpperCase());
    expect(history?.calls).toMatchObject([{ operation: 'payout', by: 'anna', outcome: 'unknown' }]);
    expect(await payoutsByHand(fresh.db, ['another'])).toEqual([]);
  });

  it('says what became of it where the database gave its number out anew meanwhile', async () => {
    await call('capture', CAPTURE, batchJson('capture'), async () => {
      await fresh.db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(
          `update tieout.gateway_calls set call_id = default
           where call_id = (select max(call_id) from tieout.gateway_calls)`,
        );
      });
    });
    const { outcome, operation } = (await calls()).at(-1) ?? {};
    expect([operation, outcome]).toEqual(['capture', expect.any(String)]);
  });

  it('that pays, and was taken, is told with its sum by the night of its date', async () => {
    for (const payment_amount of ['7', '2']) {
      const paid = { ...PAYOUT, request_id: randomUUID(), payment_amount };
      const { report } = await call('payout', paid, payoutJson(paid));
      expect(report.kind).toBe('accepted');
    }
    const { accountId } = ACCOUNT;
    const ids = (await calls()).slice(-2).map(({ entries }) => JSON.stringify(entries));
    const [before, after, ahead] = [-1, 1, 2].map((hours) => new Date(Date.now() + hours * HOUR));
    if (!before || !after || !ahead) throw new Error('no times');
    const zone = { timezone: 'UTC', cutOff: '00:00' };
    const told = (startsAt: Date, endsAt: Date, covers: string[]) =>
      paidByHand(fresh.db, [accountId], { startsAt, endsAt, covers }, zone);
    const [today, tomorrow] = [before, new Date(Date.now() + 24 * HOUR)].map((time) =>
      time.toISOString().slice(0, 10),
    );
    if (!today || !tomorrow) throw new Error('no dates');
    const found = await told(before, after, [tomorrow]);
    expect(found).toMatchObject([{ accountId, amount: '9', payouts: 2 }]);
    for (const id of found[0]?.requestIds ?? []) expect(ids.join(' ')).toContain(id);
    const [paid] = found;
    if (!paid) throw new Error('nothing is told');
    const other = { ...paid, date: '2026-11-20', amount: '5', payouts: 1, requestIds: [] };
    // Each date by itself: a night that covers one anew tells it anew.
    expect(paidByHandNotices([other, paid])[0]?.text).toMatch(
      new RegExp(
        `^3 payout\\(s\\) .* by hand: on 2026-11-20 5 USD, on ${paid.date} 9 USD as typed \\(`,
      ),
    );
    expect(await told(before, before, [tomorrow])).toEqual([]);
    // of a date that had no night of its own, by the one that covers it
    expect(await told(after, ahead, [tomorrow])).toEqual([]);
    expect(await told(after, ahead, [today, tomorrow])).toEqual(found);
  });

  it('is not made again for a refund of which nobody knows what became', async () => {
    const part = { transaction_id: 'T7', order_no: 'SO-7', currency: 'EUR', amount: '10.00' };
    const refund = (amount: string) => {
      const entry = { ...part, refund_amount: amount, refund_reason: 'goodwill' };
      return call('refund', { refund_orders: [entry] }, null);
    };
    await refund('2.00');
    await expect(refund('2.00')).rejects.toThrow(/just this refund .* make it there$/);
    // A part of another amount is another one.
    await refund('3.00');
    expect((await calls()).at(-1)).toMatchObject({ operation: 'refund', outcome: 'unknown' });
  });

  it('is unknown where no answer came', async () => {
    await call('capture', CAPTURE, null);
    expect((await calls()).at(-1)).toMatchObject({ outcome: 'unknown' });
  });

  it('leaves no card in the record', async () => {
    await call('authorise', { ...PAYMENT, ...CARD }, paymentXml());
    const record = JSON.stringify((await calls()).at(-1));
    expect(record).toContain(PAYMENT.order_no);
    for (const secret of [CARD.card, CARD.expiration_year]) {
      expect(record).not.toContain(secret);
    }
    expect(record).not.toContain('security_code');
  });

  it('is not made before its permit is on the disk of this host, which names what it moves', async () => {
    const server = await rawServer({ asked: (s) => s.end(httpText(batchJson('capture'))) });
    const gateway = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    open.push(server.close, gateway.close);
    const lines: PermitLine[] = [];
    const permits = {
      verify: async () => null,
      awaited: async () => null,
      mayClaim: async () => null,
      append: async (line: PermitLine) => {
        lines.push(line);
        throw new Error('no space left on device');
      },
    };
    const given = { operation: 'capture', by: { name: 'anna', isClaim: true } } as const;
    const deps = { ...clocked(fresh.db), journal: permits };
    const { client } = journalled(deps, gateway, { ...given, fields: CAPTURE });
    await expect(callGateway(client, ACCOUNT, 'capture', CAPTURE)).rejects.toThrow(
      'the journal of permits cannot be written: no space left on device',
    );
    expect(server.received.join('')).toBe('');
    expect((await calls()).at(-1)).toMatchObject({ operation: 'capture', outcome: 'not_sent' });
    const money = { amount: '10.00', currency: 'EUR' };
    expect(lines).toMatchObject([
      {
        operation: 'capture',
        entries: [{ order: 'SO-1', transaction: 'T1', ...money }, { order: 'SO-2' }],
      },
    ]);
    const ids = lines.map(({ attemptId }) => attemptId);
    expect(await unknownPermits(fresh.db, [...ids, randomUUID()])).toHaveLength(1);
  });

  it('is not made where it cannot be written down', async () => {
    const server = await rawServer({ asked: (socket) => socket.end(httpText('{}')) });
    const gateway = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    open.push(server.close, gateway.close);
    const gone = await freshDatabase({ empty: true });
    open.push(gone.drop);
    const by = { name: 'anna', isClaim: true };
    const given = { operation: 'capture', by, fields: CAPTURE } as const;
    const { client } = journalled(clocked(gone.db), gateway, given);
    await expect(callGateway(client, ACCOUNT, 'capture', CAPTURE)).rejects.toThrow();
    expect(server.connections()).toBe(0);
  });

  it('is not made while a brake is on, for all accounts or for this one', async () => {
    const { length } = await calls();
    const word = {
      kind: 'brake' as const,
      reason: 'a doubt',
      who: { name: 'anna', isClaim: false },
    };
    for (const accountId of [null, ACCOUNT.accountId]) {
      await sayBrake(fresh.db, { ...word, accountId, isOn: true });
      await expect(call('capture', CAPTURE, batchJson('capture'))).rejects.toThrow('a doubt');
      await sayBrake(fresh.db, { ...word, accountId, isOn: false });
    }
    expect(await calls()).toHaveLength(length);
    await sayBrake(fresh.db, { ...word, accountId: 'another', isOn: true });
    await call('capture', CAPTURE, batchJson('capture'));
    expect(await calls()).toHaveLength(length + 1);
  });

  it('is not edited afterwards', async () => {
    for (const statement of [
      `update tieout.gateway_calls set outcome = 'accepted'`,
      `update tieout.gateway_calls set called_by = 'ben'`,
      'delete from tieout.gateway_calls',
    ]) {
      await expect(fresh.db.query(statement)).rejects.toThrow('not edited');
    }
  });
});

it('a snapshot leaves no record', async () => {
  const known = (await calls()).length;
  await call('query', { order_no: 'SO-1' }, QUERY_JSON);
  expect((await calls()).length).toBe(known);
});
