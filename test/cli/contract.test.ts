// The command line as docs/CONTRACT.md section 1 promises it: exit codes, what goes to which stream,
// what a command leaves behind. Each exit code is that of the built program in a process of its own
// at least once; what differs in its words alone runs in this process.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { auditRun } from '../faults/audit.js';
import { startFront } from '../faults/front.js';
import { type Ended, startTieout, tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities, expectMoney } from '../support/identities.js';
import { dateOf } from '../support/night.js';
import { buildSeparateHouse, type SeparateHouse } from '../support/separateHouse.js';
import { rowCounts } from './rows.js';

const NO_STACK = /^\s+at /m;

/** One JSON document and nothing else. */
function documentOf<T>({ stdout }: Ended): T {
  return JSON.parse(stdout) as T;
}

function configBeside(house: SeparateHouse, name: string, change: object): string {
  const settings = JSON.parse(readFileSync(house.file, 'utf8')) as object;
  writeFileSync(join(house.folder, name), JSON.stringify({ ...settings, ...change }));
  return name;
}

describe('tieout run', () => {
  let house: SeparateHouse;
  let earlier: RunSummary;
  const run = (...args: string[]) => tieout(['run', ...args], { cwd: house.folder });
  const here = (...args: string[]): Promise<Ended> => tieoutHere(args, { cwd: house.folder });

  beforeAll(async () => {
    house = await buildSeparateHouse({ orders: 400, seed: 11 });
  });
  afterAll(() => house.end());

  it('leaves no trace of a dry run', async () => {
    const before = await rowCounts(house.db);
    const ended = await run('--dry-run', '--json');
    expect(ended.code, ended.stderr).toBe(3);
    const summary = documentOf<RunSummary>(ended);
    expect(summary.accounts.some((account) => account.orders.due > 0)).toBe(true);
    expect(summary.reports).toEqual([]);
    expect(await rowCounts(house.db)).toEqual(before);
    expect(await house.effects()).toEqual([]);
  });

  it('removes what a dry run that was killed left behind', async () => {
    const before = await rowCounts(house.db);
    const killed = startTieout(['run', '--dry-run'], { cwd: house.folder });
    await killed.says('pull: done');
    killed.signal('SIGKILL');
    await killed.ended;
    const ended = await here('run', '--dry-run', '--json');
    expect(ended.code, ended.stderr).toBe(3);
    expect(await rowCounts(house.db)).toEqual(before);
  });

  it('exits 3 with broken orders; one document on one stream, its words on the other', async () => {
    const ended = await run('--date', dateOf(2), '--json');
    expect(ended.code, ended.stderr).toBe(3);
    earlier = documentOf<RunSummary>(ended);
    expect(earlier).toMatchObject({
      businessDate: dateOf(2),
      state: 'broken',
      environment: 'test',
    });
    expect(ended.stderr).toContain(`begins business date ${dateOf(2)}`);
    expect(ended.stderr).toContain('pull: done');
    await expectIdentities(house.db, earlier);
  });

  it('joins a run of the same date that is under way, and says so', async () => {
    const front = await startFront(house.sandboxUrl);
    let release = (): void => {};
    const held = new Promise<boolean>((resolve) => {
      release = () => resolve(false);
    });
    front.trouble = () => held;
    const gateway = { baseUrl: front.baseUrl, profile: 'sandbox' };
    const file = configBeside(house, 'held.yaml', { gateway });
    const options = { cwd: house.folder };
    const first = startTieout(['run', '--json', '--config', file], options);
    await first.says('business date');
    const joining = startTieout(['run', '--json', '--config', file], options);
    await joining.says('joins');
    release();
    const [ended, second] = await Promise.all([first.ended, joining.ended]);
    await front.close();
    expect(ended.code, ended.stderr).toBe(3);
    expect(second.code, second.stderr).toBe(3);
    expect(documentOf(second)).toEqual(documentOf(ended));
    const summaries = [earlier, documentOf<RunSummary>(ended)];
    await expectMoney(house.db, summaries, await house.effects());
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  });

  it('shows an older date again and changes nothing', async () => {
    const before = await rowCounts(house.db);
    const moved = await house.effects();
    const ended = await here('run', '--date', dateOf(2), '--json');
    expect(ended.code).toBe(3);
    expect(documentOf(ended)).toEqual(earlier);
    expect(ended.stderr).toContain('older');
    expect(await rowCounts(house.db)).toEqual(before);
    expect(await house.effects()).toEqual(moved);
  });

  it('is read by people without --json', async () => {
    const ended = await here('run');
    expect(ended.code).toBe(3);
    expect(ended.stdout).toContain(`Business date ${dateOf(1)} did not tie out`);
    expect(ended.stdout).toContain('.xlsx');
    expect(ended.stderr).toContain('goes on with');
  });

  for (const [name, args, words] of [
    ['a date that has not ended', ['--date', dateOf(0)], 'has not ended'],
    ['a date far ahead', ['--date', '2199-01-01'], 'has not ended'],
    ['a date that does not exist', ['--date', '2026-02-30'], 'not a date'],
    ['a date of another shape', ['--date', 'yesterday'], 'not a date'],
    ['an older date without a run', ['--date', dateOf(5)], 'there is no run of this date'],
    ['an unknown account', ['--account', 'A9'], 'A1001, A1002'],
    ['an unknown option', ['--frobnicate'], '--frobnicate'],
    ['a missing configuration', ['--config', 'nowhere.yaml'], 'nowhere.yaml'],
  ] as const) {
    it(`exits 2 on ${name}`, async () => {
      const ended = await here('run', ...args);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain(words);
      expect(ended.stderr).not.toMatch(NO_STACK);
      expect(ended.stdout).toBe('');
    });
  }

  for (const [name, args, words] of [
    ['a night that is no date', ['runs', 'show', '2026-02-30'], 'not a date'],
    ['a verification of no date', ['verify', 'yesterday'], 'not a date'],
    [
      "a demo on a configuration that is somebody's own",
      ['demo', '--config', 'tieout.yaml'],
      'is not the demo',
    ],
  ] as const) {
    it(`exits 2 on ${name}`, async () => {
      const ended = await here(...args);
      expect([ended.code, ended.stdout], ended.stderr).toEqual([2, '']);
      expect(ended.stderr).toContain(words);
      expect(ended.stderr).not.toMatch(NO_STACK);
    });
  }

  it('exits 2 on a month where a report is of a night', async () => {
    const args = ['report', dateOf(2).slice(0, 7), '--kind', 'breaks', '--format', 'csv'];
    const ended = await here(...args);
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain('is no day');
    expect(ended.stderr).not.toMatch(NO_STACK);
  });

  it('exits 2 on a key that it does not know, naming key and file', async () => {
    const file = configBeside(house, 'odd.yaml', { reconcile: { graceHour: 3 } });
    const ended = await run('--config', file);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('reconcile.graceHour');
    expect(ended.stderr).toContain('odd.yaml');
  });

  it('exits 4 when the gateway cannot be reached', async () => {
    const gateway = { baseUrl: 'http://127.0.0.1:1', profile: 'sandbox' };
    const file = configBeside(house, 'unreachable.yaml', { gateway });
    const ended = await run('--config', file, '--json');
    expect(ended.code, ended.stderr).toBe(4);
    const summary = documentOf<RunSummary>(ended);
    expect(summary.state).toBe('incomplete');
    expect(summary.pull.failedPages).toBe(summary.pull.pages);
    await expectIdentities(house.db, summary);
    // With the gateway back the same date is whole again.
    expect((await here('run')).code).toBe(3);
  });

  it('exits 1 when the database cannot be reached, in one sentence', async () => {
    const url = 'postgres://tieout:secret-word@127.0.0.1:1/tieout';
    const file = configBeside(house, 'no-database.yaml', { database: { url } });
    const ended = await run('--config', file);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^tieout: the database .*127\.0\.0\.1.* cannot be used/m);
    expect(ended.stderr).not.toMatch(NO_STACK);
    expect(ended.stderr).not.toContain('secret-word');
  });

  it('exits 2 on a time that no clock has, and names file and key', async () => {
    const file = configBeside(house, 'no-time.yaml', { schedule: { cron: '99 4 * * *' } });
    const ended = await here('status', '--config', file);
    expect(ended.code, ended.stderr).toBe(2);
    const words = /^tieout: .*no-time\.yaml: schedule\.cron: "99 4 \* \* \*" is not/m;
    expect(ended.stderr).toMatch(words);
    expect(ended.stderr).not.toMatch(NO_STACK);
  });

  for (const [name, args] of [
    ['status', ['status']],
    ['runs list', ['runs', 'list']],
    ['runs show', ['runs', 'show']],
    ['runs show of a date', ['runs', 'show', dateOf(2)]],
    ['jobs list', ['jobs', 'list']],
    ['the rows of a report', ['report', dateOf(2), '--kind', 'breaks', '--format', 'csv']],
    ['the breaks, where no kind is given', ['report', dateOf(2), '--format', 'ndjson']],
    ['a query by its name on the wire', ['gateway', 'retrievalTrans', '--account', 'A1001']],
    ['migrate status', ['migrate', 'status']],
  ] as const) {
    it(`prints one document for ${name} --json`, async () => {
      const ended = await here(...args, '--json');
      expect(ended.code, ended.stderr).toBe(0);
      documentOf(ended);
    });
  }
});

describe('tieout run that is told to stop', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`hands back what is under way on ${signal}, and goes on when run again`, async () => {
      const house = await buildSeparateHouse({ orders: 900, seed: 21 });
      try {
        const first = startTieout(['run'], { cwd: house.folder });
        await first.says('plan: done');
        first.signal(signal);
        const stopped = await first.ended;
        expect(stopped.code).not.toBe(0);
        expect(stopped.stderr).not.toMatch(NO_STACK);
        const open = await house.db.query(
          `select 1 from tieout.instructions where state = 'sending'`,
        );
        expect(open.rows).toEqual([]);
        const summary = await goneOnWith(house, signal === 'SIGINT' ? 'a person' : 'a clock');
        await expectIdentities(house.db, summary);
        await expectMoney(house.db, [summary], await house.effects());
        expect(await auditRun(house.db, await house.effects())).toEqual([]);
      } finally {
        await house.end();
      }
    });
  }
});

describe('tieout run that is told to stop twice', () => {
  it('ends at once with a capture on its way, which the next run settles', async () => {
    const house = await buildSeparateHouse({ orders: 300, seed: 23 });
    const front = await startFront(house.sandboxUrl);
    try {
      let isAsked = (): void => {};
      const asked = new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      // The gateway does it, and its answer never comes.
      front.trouble = async (call) => {
        if (call.operation !== 'capture') return false;
        await call.pass();
        isAsked();
        return true;
      };
      const gateway = { baseUrl: front.baseUrl, profile: 'sandbox' };
      const file = configBeside(house, 'silent.yaml', { gateway });
      const first = startTieout(['run', '--config', file], { cwd: house.folder });
      await asked;
      first.signal('SIGTERM');
      await first.says('told again, it ends at once');
      first.signal('SIGTERM');
      const stopped = await first.ended;
      expect(stopped.code).toBe(1);
      expect(stopped.stderr).toContain('ended at once; the same command goes on from here');
      const again = await tieoutHere(['run', '--json'], { cwd: house.folder });
      // What was claimed and had no byte sent yet when the process ended is unknown: no look shows it.
      const { rowCount } = await house.db.query(
        `select 1 from tieout.instructions where state = 'unknown'`,
      );
      expect(again.code, again.stderr).toBe(rowCount > 0 ? 4 : 3);
      const summary = documentOf<RunSummary>(again);
      await expectIdentities(house.db, summary);
      await expectMoney(house.db, [summary], await house.effects());
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
    } finally {
      await front.close();
      await house.end();
    }
  });
});

describe('tieout on a database of the merchant', () => {
  it('refuses one without its tables until `tieout migrate up`', async () => {
    const house = await buildSeparateHouse({ orders: 0, seed: 1, database: 'empty' });
    try {
      const refused = await tieoutHere(['run'], { cwd: house.folder });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('tieout migrate up');
      const { rows } = await house.db.query(
        `select 1 from pg_namespace where nspname in ('tieout', 'ledger', 'bullmq')`,
      );
      expect(rows).toEqual([]);
      const migrated = await tieout(['migrate', 'up'], { cwd: house.folder });
      expect(migrated.code, migrated.stderr).toBe(0);
      const ended = await tieoutHere(['run', '--json'], { cwd: house.folder });
      expect(ended.code, ended.stderr).toBe(0);
      expect(documentOf<RunSummary>(ended).state).toBe('tied_out');
    } finally {
      await house.end();
    }
  });
});

describe('tieout in an empty folder', () => {
  let house: SeparateHouse;
  const here = (...args: string[]): Promise<Ended> =>
    tieout(args, { cwd: join(house.folder, 'gateway') });

  beforeAll(async () => {
    house = await buildSeparateHouse({ orders: 0, seed: 1 });
  });
  afterAll(() => house.end());

  it('says how to begin when there is no configuration', async () => {
    const ended = await here('run');
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/tieout init.*tieout demo/);
    expect(ended.stderr).not.toMatch(NO_STACK);
  });

  it('lists its commands, and each of them explains itself', async () => {
    const ended = await here('--help');
    expect(ended.code).toBe(0);
    const listed = ended.stdout.split('Commands:')[1] ?? '';
    const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? '');
    expect(names).toContain('run');
    expect(names).toContain('demo');
    for (const name of names.filter((other) => other !== 'help')) {
      const help = await tieoutHere([name, '--help'], { cwd: house.folder });
      expect(help.code, help.stderr).toBe(0);
      expect(help.stdout).toContain('Usage: tieout');
    }
  });

  it('exits 2 on a command that there is not', async () => {
    const ended = await here('frobnicate');
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('frobnicate');
  });
});

describe('tieout demo', () => {
  it('is one whole night, which runs again without moving anything', async () => {
    const house = await buildSeparateHouse({ orders: 0, seed: 1 });
    try {
      const options = { cwd: join(house.folder, 'gateway') };
      const demo = await tieout(['demo', '--orders', '300'], options);
      // Breaks and all: the night ran. Its last words are the way into the console.
      expect(demo.code, demo.stderr).toBe(0);
      expect(demo.stdout).toMatch(/ start +serves the console at http:.*\n.* a link.*in\.\n$/);
      const first = documentOf<RunSummary>(await tieoutHere(['runs', 'show', '--json'], options));
      expect(first.state).toBe('broken');
      const journal = (): string =>
        readFileSync(join(options.cwd, 'var', 'sandbox', 'effects.ndjson'), 'utf8');
      const moved = journal();
      expect(moved).not.toBe('');
      const again = await tieoutHere(['run', '--json'], options);
      expect(again.code, again.stderr).toBe(3);
      expect(documentOf<RunSummary>(again).accounts).toEqual(first.accounts);
      expect(journal()).toBe(moved);
    } finally {
      await house.end();
    }
  });
});

/** By `tieout run`, or by a clock that was started and finds the night owed. */
async function goneOnWith(house: SeparateHouse, by: 'a person' | 'a clock'): Promise<RunSummary> {
  const options = { cwd: house.folder };
  if (by === 'a person') {
    const again = await tieoutHere(['run', '--json'], options);
    expect(again.code, again.stderr).toBe(3);
    return documentOf<RunSummary>(again);
  }
  const owed = await tieoutHere(['status', '--json'], options);
  expect(documentOf(owed)).toMatchObject({ state: 'failed', owed: { kind: 'goOn' } });
  const clock = startTieout(['schedule'], options);
  await clock.says('The next night begins at');
  clock.signal('SIGTERM');
  const ended = await clock.ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('goes on with business date');
  const status = await tieoutHere(['status'], options);
  expect(status.stdout).toMatch(
    /did not tie out: .*\nThe next night begins at .* [A-Z]\S+, business date /,
  );
  return documentOf<RunSummary>(await tieoutHere(['runs', 'show', '--json'], options));
}
