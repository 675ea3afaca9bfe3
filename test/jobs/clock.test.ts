// The clock over real seconds: it ticks, it stops; and what has no meaning to it.

import cron from 'node-cron';
import { describe, expect, it, vi } from 'vitest';
import { localTicksOf, startClock } from '../../jobs/clock.js';
import { cronProblem } from '../../src/config/values.js';
import { latch } from '../support/latch.js';

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

  it('leaves out what a zone skips, which is why the calendar decides', async () => {
    const clock = cron.createTask('30 2 * * *', () => {}, { timezone: 'Europe/Berlin' });
    const at = (time: string) => clock.match(new Date(time));
    // 02:30 of 29 March was never; of 25 October it was twice.
    const spring = Array.from({ length: 24 * 60 }, (_, minute) => minute * 60_000)
      .map((ms) => Date.parse('2026-03-28T23:00:00Z') + ms)
      .filter((ms) => clock.match(new Date(ms)));
    expect(spring).toEqual([]);
    expect([at('2026-10-25T00:30:00Z'), at('2026-10-25T01:30:00Z')]).toEqual([true, true]);
    await clock.destroy();
    expect(localTicksOf('30 2 * * *')(new Date('2026-03-29T05:00:00Z'))).toContain(
      '2026-03-29 02:30',
    );
  });

  it.each([
    ['15 4 * * *', '2026-11-20 04:15', '2026-11-22 04:15'],
    ['15 4,16 * * *', '2026-11-20 16:15', '2026-11-22 04:15'],
    ['15 4 * * 1-5', '2026-11-20 04:15', '2026-11-23 04:15'],
    ['0 30 1 L * *', '2026-10-31 01:30', '2026-11-30 01:30'],
    ['@monthly', '2026-11-01 00:00', '2026-12-01 00:00'],
    ['0 3 29 2 *', undefined, undefined],
  ])('knows the local times of "%s" around a day', (expression, before, after) => {
    const ticks = localTicksOf(expression)(new Date('2026-11-21T12:00:00Z'));
    expect(ticks.filter((tick) => tick < '2026-11-21').at(-1)).toBe(before);
    expect(ticks.find((tick) => tick > '2026-11-22')).toBe(after);
    expect(ticks.length).toBeLessThan(1_000);
  });

  it.each(['0 0 * * *', '59 23 * * *', '5 04 * * 0-7', '05 4 * * 7-1', '1 2 * * 7'])(
    'reads "%s", which is taken without it being asked, as the library does',
    (expression) => {
      expect(cron.validateDetailed(expression).errors).toEqual([]);
      expect(cronProblem(expression)).toBeNull();
    },
  );

  it.each(['', 'every night', '61 4 * * *', '15 24 * * *', '15 4 * *', '15 4 * * 8', '0 0 30 2 *'])(
    'has no meaning for "%s", as the configuration says',
    (expression) => {
      expect(cronProblem(expression)).toContain('is not a cron expression such as "15 4 * * *": ');
    },
  );
});
