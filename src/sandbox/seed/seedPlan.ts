// The layout of a seeded night: which order number stands where in time, in which account, and
// which kind it is. Everything follows from the seed and the position by arithmetic, so that a
// million orders cost no memory. Draws no names and no money: that is seed.ts.

import { createHash } from 'node:crypto';
import { UsageError } from '../../core/errors.js';
import { printedDay } from '../answers/printedDay.js';
import type { SandboxAccountId } from '../book/order.js';
import { KINDS, type Kind, ZONES, type Zone } from './kinds.js';
import { mix } from './random.js';

export const MAX_SEED_ORDERS = 10_000_000;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** From so many orders upward every kind is there at least twice; below, once or not at all. */
const ORDERS_FOR_TWO = 300;
const ORDERS_FOR_ONE = 100;
/** Of 100 orders; the business date takes the rest. */
const ZONE_PERCENT = { stale: 5, recent: 20, young: 2 } as const;

export interface SeedSettings {
  readonly orders: number;
  readonly seed: number;
  readonly dayStart: Date;
  readonly dayEnd: Date;
  readonly accounts: readonly SandboxAccountId[];
}

interface ZoneLayout {
  readonly zone: Zone;
  readonly first: number;
  readonly size: number;
  readonly from: number;
  readonly to: number;
  /** Spreads the planted kinds over the zone: rank = position * step + shift, modulo size. */
  readonly step: number;
  readonly shift: number;
  readonly planted: readonly { kind: Kind; below: number }[];
}

export interface SeedPlan {
  readonly settings: SeedSettings;
  readonly zones: readonly ZoneLayout[];
}

/** Where one order stands. `kind` null: plainly matched. */
export interface Place {
  readonly index: number;
  readonly zone: Zone;
  readonly kind: Kind | null;
  readonly account: SandboxAccountId;
  readonly at: number;
  readonly day: string;
}

/** The accounts that the sandbox has when nobody names others. */
export const DEFAULT_ACCOUNTS: readonly SandboxAccountId[] = [
  { merchantId: 'M1001', accountId: 'A1001' },
  { merchantId: 'M1001', accountId: 'A1002' },
];

/** A key for a sandbox account; worthless anywhere else, and the same for the same seed. */
export function sandboxKey(seed: number, accountId: string): string {
  return createHash('sha256').update(`sandbox key ${seed} ${accountId}`).digest('hex').slice(0, 32);
}

/** Lays a night out; refuses settings that make none. */
export function planSeed(settings: SeedSettings): SeedPlan {
  const { orders, seed, dayStart, dayEnd, accounts } = settings;
  if (!Number.isSafeInteger(orders) || orders < 0 || orders > MAX_SEED_ORDERS) {
    throw new UsageError(`a night has 0 to ${MAX_SEED_ORDERS} orders`);
  }
  if (!Number.isSafeInteger(seed)) throw new UsageError('a seed is a whole number');
  if (!(dayStart.getTime() < dayEnd.getTime())) throw new UsageError('a night ends after it began');
  if (accounts.length === 0) throw new UsageError('a night needs an account');
  let first = 0;
  const zones = ZONES.map((zone, number) => {
    const layout = layOutZone(settings, zone, number, first);
    first += layout.size;
    return layout;
  });
  return { settings, zones };
}

/** Where the order of a position stands. */
export function placeOf(plan: SeedPlan, index: number): Place {
  const layout = plan.zones.find(({ first, size }) => index >= first && index < first + size);
  if (layout === undefined) throw new RangeError(`the night has no order ${index}`);
  const { seed, accounts, dayStart } = plan.settings;
  const within = index - layout.first;
  const bits = mix(seed, index);
  const jitter = (bits & 0xffff) / 0x10000;
  const at =
    layout.from + Math.floor(((within + jitter) / layout.size) * (layout.to - layout.from));
  return {
    index,
    zone: layout.zone,
    kind: kindOfRank(layout, (within * layout.step + layout.shift) % layout.size),
    account: accounts[(bits >>> 16) % accounts.length] as SandboxAccountId,
    at,
    day: dayOf(at, dayStart.getTime()),
  };
}

/** How many of each kind the night holds, the plain ones under `plain`. */
export function plantedCounts(plan: SeedPlan): Record<string, number> {
  const counts: Record<string, number> = { plain: plan.settings.orders };
  for (const { planted } of plan.zones) {
    let before = 0;
    for (const { kind, below } of planted) {
      counts[kind.name] = below - before;
      counts.plain = (counts.plain ?? 0) - (below - before);
      before = below;
    }
  }
  return counts;
}

function layOutZone(settings: SeedSettings, zone: Zone, number: number, first: number): ZoneLayout {
  const size = sizeOfZone(zone, settings.orders);
  const [from, to] = windowOfZone(zone, settings);
  let below = 0;
  const planted = KINDS.filter((kind) => kind.zone === zone).map((kind) => {
    below = Math.min(size, below + wanted(kind, settings.orders));
    return { kind, below };
  });
  const shift = size === 0 ? 0 : mix(settings.seed, -1 - number) % size;
  return { zone, first, size, from, to, step: strideOf(size), shift, planted };
}

function sizeOfZone(zone: Zone, orders: number): number {
  const part = (name: keyof typeof ZONE_PERCENT) => Math.floor((orders * ZONE_PERCENT[name]) / 100);
  if (zone === 'day') return orders - part('stale') - part('recent') - part('young');
  return part(zone);
}

/** Old enough or young enough for the default graceHours 24 and staleAuthorisationDays 6. */
function windowOfZone(zone: Zone, { dayStart, dayEnd }: SeedSettings): [number, number] {
  const end = dayEnd.getTime();
  const lastHour = Math.max(dayStart.getTime(), end - HOUR);
  switch (zone) {
    case 'stale':
      return [end - 30 * DAY, end - 8 * DAY];
    case 'recent':
      return [end - 4 * DAY, Math.max(end - 4 * DAY, Math.min(dayStart.getTime(), end - DAY))];
    case 'day':
      return [dayStart.getTime(), lastHour];
    case 'young':
      return [lastHour, end];
  }
}

function wanted(kind: Kind, orders: number): number {
  const least = orders >= ORDERS_FOR_TWO ? 2 : orders >= ORDERS_FOR_ONE ? 1 : 0;
  return Math.max(least, Math.floor((orders * kind.share) / 10_000));
}

/** A step near the golden section that shares no factor with the size: visits every rank once. */
function strideOf(size: number): number {
  let step = Math.max(1, Math.floor(size * 0.618));
  while (greatestCommonDivisor(step, size) > 1) step += 1;
  return step;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function kindOfRank({ planted }: ZoneLayout, rank: number): Kind | null {
  const all = planted.at(-1);
  if (all === undefined || rank >= all.below) return null;
  return planted.find(({ below }) => rank < below)?.kind ?? null;
}

/** The business date as eight digits: 13.5 hours after midnight it has the same date in UTC. */
function dayOf(at: number, dayStart: number): string {
  const days = Math.floor((at - dayStart) / DAY);
  const afternoon = dayStart + days * DAY + 13.5 * HOUR;
  return printedDay(Math.floor(afternoon / DAY));
}
