// The clock over real seconds: it ticks, it stops, it refuses what has no meaning.

import { describe, expect, it, vi } from 'vitest';
import { checkSchedule, startClock } from '../../jobs/clock.js';
import { ConfigurationError } from '../../src/core/errors.js';
import { latch } from './house.js';

const EACH_SECOND = '* * * * * *';
const WAIT = { timeout: 20_000, interval: 25 };

describe('the clock', () => {
  it('ticks until it is stopped', async () => {
    let ticks = 0;
    const clock = startClock({
      cron: EACH_SECOND,
      timezone: 'Europe/Berlin',
      onTick: async () => {
        ticks += 1;
      },
      log: () => {},
    });
    expect(clock.nextTick()).toBeInstanceOf(Date);
    await vi.waitFor(() => expect(ticks).toBeGreaterThanOrEqual(2), WAIT);
    await clock.stop();
    const atStop = ticks;
    // A clock beside it proves that seconds went by in which the stopped one stayed silent.
    let later = 0;
    const witness = startClock({
      cron: EACH_SECOND,
      timezone: 'UTC',
      onTick: async () => {
        later += 1;
      },
      log: () => {},
    });
    await vi.waitFor(() => expect(later).toBeGreaterThanOrEqual(2), WAIT);
    await witness.stop();
    expect(ticks).toBe(atStop);
  });

  it('goes on after a tick that failed, and says why', async () => {
    let ticks = 0;
    const lines: string[] = [];
    const clock = startClock({
      cron: EACH_SECOND,
      timezone: 'UTC',
      onTick: async () => {
        ticks += 1;
        throw new Error('the database is away');
      },
      log: (line) => lines.push(line),
    });
    await vi.waitFor(() => expect(ticks).toBeGreaterThanOrEqual(2), WAIT);
    await clock.stop();
    expect(lines).toContain('clock: the tick failed: the database is away');
  });

  it('leaves a tick out while the one before still runs, and says so', async () => {
    const go = latch();
    let ticks = 0;
    const lines: string[] = [];
    const clock = startClock({
      cron: EACH_SECOND,
      timezone: 'UTC',
      onTick: async () => {
        ticks += 1;
        await go.promise;
      },
      log: (line) => lines.push(line),
    });
    await vi.waitFor(() => expect(lines.join()).toContain('a tick was left out'), WAIT);
    expect(ticks).toBe(1);
    await clock.stop();
    go.open();
  });

  it('knows the next tick in its own time zone', async () => {
    const at = (timezone: string) => {
      const clock = startClock({
        cron: '15 4 * * *',
        timezone,
        onTick: async () => {},
        log: () => {},
      });
      const next = clock.nextTick();
      return clock.stop().then(() => next?.getUTCHours());
    };
    expect(await at('UTC')).toBe(4);
    expect(await at('Asia/Tokyo')).toBe(19);
  });

  it.each([
    ['', 'UTC', 'schedule.cron'],
    ['every night', 'UTC', 'schedule.cron'],
    ['61 4 * * *', 'UTC', 'schedule.cron'],
    ['15 4 * *', 'UTC', 'schedule.cron'],
    ['15 4 * * *', 'Europe/Atlantis', 'schedule.timezone'],
    ['15 4 * * *', '', 'schedule.timezone'],
  ])('refuses "%s" in the time zone "%s", naming %s', (cron, timezone, key) => {
    const start = () =>
      startClock({ cron, timezone, onTick: async () => {}, log: () => {}, file: 'tieout.yaml' });
    expect(start).toThrow(ConfigurationError);
    expect(start).toThrow(`tieout.yaml: ${key}: `);
    expect(() => checkSchedule({ cron, timezone })).toThrow(ConfigurationError);
  });
});
