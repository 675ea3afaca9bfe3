// The invented night: the same for the same seed, with every kind of difference planted in it.

import { describe, expect, it } from 'vitest';
import { parseAmount } from '../../src/core/money.js';
import { KINDS } from '../../src/sandbox/seed/kinds.js';
import { seedAll, seededAtGateway, seedOrder, seedOrders } from '../../src/sandbox/seed/seed.js';
import { MAX_SEED_ORDERS, planSeed, plantedCounts } from '../../src/sandbox/seed/seedPlan.js';
import { SETTINGS } from './startedSandbox.js';

const HOUR = 3_600_000;

describe('a seeded night', () => {
  it('is the same for the same settings and another for another seed', () => {
    expect(seedAll(SETTINGS)).toEqual(seedAll({ ...SETTINGS }));
    expect(seedAll({ ...SETTINGS, seed: 8 }).ledger).not.toEqual(seedAll(SETTINGS).ledger);
  });

  it.each([300, 301, 1_000, 20_000])('plants every kind at least twice in %i orders', (orders) => {
    const { planted } = seedAll({ ...SETTINGS, orders });
    for (const { name } of KINDS) expect(planted[name], name).toBeGreaterThanOrEqual(2);
  });

  it('says exactly what it planted', () => {
    const night = planSeed({ ...SETTINGS, orders: 5_000 });
    const counted: Record<string, number> = {};
    for (const { kind } of seedOrders(night)) counted[kind] = (counted[kind] ?? 0) + 1;
    expect(counted).toEqual(plantedCounts(night));
  });

  it('is matched for the most part', () => {
    const orders = 20_000;
    const night = planSeed({ ...SETTINGS, orders });
    const matched = [...seedOrders(night)].filter((one) => one.leadsTo === 'matched').length;
    expect(matched / orders).toBeGreaterThan(0.94);
  });

  it.each([0, 1, 2, 10, 50, 99, 100, 299])('can be as small as %i orders', (orders) => {
    const night = seedAll({ ...SETTINGS, orders });
    expect(night.ledger.orders).toHaveLength(orders);
  });

  it.each([-1, 1.5, Number.NaN, MAX_SEED_ORDERS + 1])('refuses %d orders', (orders) => {
    expect(() => planSeed({ ...SETTINGS, orders })).toThrow('a night has');
  });

  it('numbers orders in the sequence in which they were placed, none after the day', () => {
    const { orders } = seedAll({ ...SETTINGS, orders: 3_000 }).ledger;
    const placed = orders.map((order) => order.placed_at);
    expect(placed).toEqual([...placed].sort());
    expect(placed.every((at) => at < SETTINGS.dayEnd.toISOString())).toBe(true);
    const serials = orders.map((order) => Number(order.order_no.slice(-6)));
    expect(serials).toEqual(serials.map((_, index) => index + 1));
    const onDay = orders.filter((order) => order.placed_at >= SETTINGS.dayStart.toISOString());
    expect(onDay.length / orders.length).toBeGreaterThan(0.6);
    expect(onDay.every((order) => order.order_no.startsWith('SO-20261119-'))).toBe(true);
  });

  it('names each transaction once, and only printable amounts in the ledger', () => {
    const { gateway, ledger } = seedAll({ ...SETTINGS, orders: 3_000 });
    const ids = gateway.flatMap((order) => order.transactions.map((one) => one.transactionId));
    expect(new Set(ids).size).toBe(ids.length);
    for (const order of ledger.orders) {
      expect(parseAmount(order.amount) ?? 0n).toBeGreaterThan(0n);
      if (order.currency === 'JPY') expect(order.amount).toMatch(/\.00$/);
    }
    for (const refund of ledger.refunds) {
      expect(parseAmount(refund.refund_amount) ?? 0n).toBeGreaterThan(0n);
      expect(Date.parse(refund.requested_at)).toBeLessThanOrEqual(SETTINGS.dayEnd.getTime());
    }
  });

  it('keeps young kinds young and old kinds old', () => {
    const night = planSeed({ ...SETTINGS, orders: 3_000 });
    const end = SETTINGS.dayEnd.getTime();
    for (const { kind, ledger } of seedOrders(night)) {
      const age = (end - Date.parse(ledger.placed_at)) / HOUR;
      if (kind.endsWith('_young')) expect(age).toBeLessThanOrEqual(1);
      if (kind === 'missing_at_gateway' || kind === 'pending_old') expect(age).toBeGreaterThan(24);
      if (kind === 'stale_authorisation') expect(age).toBeGreaterThan(7 * 24);
      if (ledger.expected === 'authorised' && kind === 'plain') expect(age).toBeLessThan(5 * 24);
    }
  });

  it('finds an order of the gateway by its number alone, and only in its own account', () => {
    const night = planSeed({ ...SETTINGS, orders: 2_000 });
    for (const { gateway, gatewayOnly, ledger } of seedOrders(night)) {
      const { account_id: account, order_no: orderNo } = ledger;
      expect(seededAtGateway(night, account, orderNo)).toEqual(gateway);
      const other = account === 'A1001' ? 'A1002' : 'A1001';
      expect(seededAtGateway(night, other, orderNo)).toBeNull();
      if (gatewayOnly === null) continue;
      expect(seededAtGateway(night, account, gatewayOnly.orderNo)).toEqual(gatewayOnly);
    }
  });

  it.each(['', 'SO', 'SO-20261119-000000', 'SO-20261118-000600', 'SO-20261119-0000600', 'SO-1-1'])(
    'does not know the order number "%s"',
    (orderNo) => {
      const night = planSeed(SETTINGS);
      expect(seededAtGateway(night, 'A1001', orderNo)).toBeNull();
      expect(seededAtGateway(night, 'A1002', orderNo)).toBeNull();
    },
  );

  it('draws any order alone as it does in sequence', () => {
    const night = planSeed(SETTINGS);
    const all = [...seedOrders(night)];
    for (const index of [599, 0, 300, 17]) expect(seedOrder(night, index)).toEqual(all[index]);
  });
});
