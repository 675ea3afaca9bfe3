// `tieout doctor`: is this installation fit to run at night? Looks at everything, changes nothing;
// exit 0 when nothing is wrong. Each value of the gateway profile is shown with where it comes
// from.

import { Command } from 'commander';
import { QUEUE_CONNECTIONS_MAX } from '../../../jobs/queues.js';
import type { Config } from '../../config/config.js';
import { describeConfig } from '../../config/view.js';
import { observedWords } from '../../core/accounts/observed.js';
import { ALERT_CHANNELS, addressOf, nameOfChannel } from '../../core/alertChannels.js';
import { DatabaseAwayError, DatabaseFullError, messageOf, TieoutError } from '../../core/errors.js';
import {
  clockTrouble,
  didNotStart,
  nextSentence,
  owedSentence,
  silenceSentence,
  standsStill,
} from '../../core/runs/owed.js';
import { DAY_MS } from '../../core/time.js';
import { refusedRight } from '../../database/connection.js';
import { PROCESS_CONNECTIONS_MAX } from '../../database/db.js';
import { hasEmbedded } from '../../database/embedded/embeddedPlace.js';
import { ASKED_LIMITS } from '../../database/limits.js';
import type { MigrationStatus } from '../../database/migrate.js';
import { encodingTrouble, migrationStatus, skippedWords } from '../../database/migrate.js';
import { isOwner } from '../../database/server/grantRoles.js';
import { gaveUpWaiting } from '../../database/server/lockWaits.js';
import {
  isSuperuser,
  type ServerFacts,
  serverFacts,
  tryRoom,
} from '../../database/server/serverFacts.js';
import { type ProfileOrigin, profileOrigins } from '../../gateway/document/profile.js';
import { readSchedule } from '../../night/owedRun.js';
import { outboxFigures } from '../../outbox/outboxStore.js';
import { statusCodesSeen } from '../../pull/snapshot/statusCodesStore.js';
import type { App } from '../app.js';
import { configOf, printJson, printLines, wantsJson, withApp } from '../context.js';
import { scheduleDepsOf } from '../scheduleStatus.js';
import type { Part } from '../terminal.js';
import { columns } from '../terminal.js';
import { certificateChecks } from './checks/certificateCheck.js';
import { type Check, gathered } from './checks/check.js';
import { definitionsCheck } from './checks/definitionsCheck.js';
import { fileChecks, roomChecks, writeChecks } from './checks/fileChecks.js';
import { ledgerChecks, leftChecks } from './checks/ledgerChecks.js';
import { liveChecks } from './checks/liveChecks.js';
import { rightsCheck } from './checks/rightsCheck.js';
import { sendingChecks } from './checks/sendingChecks.js';
import { inboxChecks, settlementChecks, unreadChecks } from './checks/settlementChecks.js';

export function doctorCommand(): Command {
  return new Command('doctor')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      const config = configOf(command);
      if (config.database.kind === 'embedded' && !hasEmbedded(config.dataDir)) {
        process.exitCode = tell(command, config, beforeTheFirstStart(config));
        return;
      }
      try {
        await withApp(command, async (app) => tell(command, config, await examineAll(app)), {
          anySchema: true,
          quiet: true,
          lockMs: ASKED_LIMITS.lockMs,
        });
      } catch (error) {
        // The embedded one that no disk has room for: which one, the checks without it say.
        if (!(error instanceof DatabaseFullError)) throw error;
        process.exitCode = tell(command, config, withoutDatabase(config, error));
      }
    });
}

function tell(command: Command, config: Config, checks: readonly Check[]): number {
  const profile = profileOf(config);
  if (wantsJson(command)) printJson({ checks, profile, configuration: describeConfig(config) });
  else {
    const rows = columns(gathered(checks).map(cellsOf));
    printLines([...rows, '', 'Gateway profile', ...profileLines(profile)]);
  }
  return checks.some((check) => check.kind === 'problem') ? 1 : 0;
}

/** The embedded database comes with the first command that needs it: looking makes none. */
function beforeTheFirstStart(config: Config): Check[] {
  const words = 'embedded, not there yet: the first command that needs it makes it';
  const database: Check = { name: 'database', kind: 'ok', words };
  return [...configChecks(config), ...liveChecks(config), database, toldCheck(config, '')];
}

function configChecks(config: Config): Check[] {
  return [
    { name: 'configuration', kind: 'ok', words: config.file },
    { name: 'environment', kind: 'ok', words: config.environment },
    ...accountChecks(config),
    ...keyChecks(config),
    ...unreadChecks(config),
    ...fileChecks(config),
    ...roomChecks(config),
    ...certificateChecks(config),
    ...writeChecks(config),
  ];
}

/** With the database away, what needs none is looked at all the same. */
async function examineAll(app: App): Promise<Check[]> {
  try {
    return await examine(app);
  } catch (error) {
    if (!(error instanceof DatabaseAwayError)) throw error;
    const { config } = app;
    return [
      ...withoutDatabase(config, error),
      ...(config.queue.kind === 'redis' ? [await queueCheck(app)] : []),
      toldCheck(config, ''),
      ...(await inboxChecks(config)),
    ];
  }
}

function withoutDatabase(config: Config, error: DatabaseAwayError): Check[] {
  const database: Check = { name: 'database', kind: 'problem', words: messageOf(error) };
  return [...configChecks(config), ...liveChecks(config), database];
}

async function examine(app: App): Promise<Check[]> {
  const status = await migrationStatus(app.connection);
  const isMigrated = status.pending.length === 0;
  const part = partsOf(app);
  const migratedPart = (name: string, work: () => Promise<Check[]>): Promise<Check[]> =>
    isMigrated ? part(name, work) : Promise.resolve([]);
  return [
    ...configChecks(app.config),
    ...liveChecks(app.config, {
      isSuperuser: await isSuperuser(app.db),
      isOwner: await isOwner(app.db),
    }),
    ...(await databaseChecks(app, status)),
    ...(await migratedPart('rights', () => rightsCheck(app))),
    ...(await migratedPart('ledger', () => ledgerChecks(app))),
    ...(await migratedPart('accounts', () => leftChecks(app))),
    ...(await migratedPart('sending', () => sendingChecks(app))),
    ...(await migratedPart('nights', async () => [
      await scheduleCheck(app),
      await codesCheck(app),
    ])),
    // With the database's queue, its tables come with those of the ledger.
    ...(isMigrated || app.config.queue.kind === 'redis' ? [await queueCheck(app)] : []),
    ...(await migratedPart('alerts', async () => [await alertsCheck(app)])),
    ...(await inboxChecks(app.config)),
    ...(await migratedPart('settlement', () => settlementChecks(app))),
    ...(await migratedPart('definitions', async () => [await definitionsCheck(app)])),
  ];
}

/** A table that is locked, or may not be read, is a problem; the other parts are looked at. */
function partsOf({ heldUpBy }: App) {
  return async (name: string, work: () => Promise<Check[]>): Promise<Check[]> => {
    try {
      return await work();
    } catch (error) {
      if (gaveUpWaiting(error)) {
        return [{ name, kind: 'problem', words: heldUpBy() ?? messageOf(error) }];
      }
      if (error instanceof DatabaseAwayError || !(error instanceof TieoutError)) throw error;
      return [{ name, kind: 'problem', words: messageOf(error) }];
    }
  };
}

function accountChecks(config: Config): Check[] {
  const now = new Date();
  return config.accounts.map(({ accountId, liveFrom }) => {
    const of = { name: `account ${accountId}`, accountId };
    const observed = observedWords(liveFrom, now);
    return observed === null
      ? { ...of, kind: 'ok', words: `live from ${liveFrom?.toISOString()}` }
      : { ...of, kind: 'warning', words: observed };
  });
}

/** A key that is no longer needed is one more that may leak. */
function keyChecks({ accounts }: Config): Check[] {
  const words =
    'answers signed with previousSigningKey are still believed: take it out when no log line ' +
    'has named one for a while';
  return accounts
    .filter(({ previousSigningKey }) => (previousSigningKey ?? null) !== null)
    .map(({ accountId }) => {
      return { name: `account ${accountId}`, accountId, kind: 'warning', words };
    });
}

async function databaseChecks(app: App, status: MigrationStatus): Promise<Check[]> {
  const server = await serverFacts(app.db, new Date());
  const clock = clockTrouble(server.skewSeconds * 1000);
  const full = server.isReplica ? null : await fullDisk(app);
  const trouble = full ?? encodingTrouble(server.encoding);
  return [
    {
      name: 'database',
      kind: trouble === null ? 'ok' : 'problem',
      words: trouble ?? `PostgreSQL ${server.version}`,
    },
    durabilityCheck(server, app.config.environment),
    connectionsCheck(app, server),
    migrationsCheck(app, status),
    {
      name: 'clock',
      kind: clock === null ? 'ok' : 'problem',
      words: clock ?? `${Math.abs(server.skewSeconds).toFixed(1)} s from the database's`,
    },
  ];
}

/** A full disk answers whatever is read; a role that may make no table is not asked to. */
async function fullDisk({ db }: App): Promise<string | null> {
  try {
    await tryRoom(db);
  } catch (error) {
    if (error instanceof DatabaseFullError) return messageOf(error);
    if (refusedRight(error) === null) throw error;
  }
  return null;
}

/** A given database is never migrated by itself, the embedded one with the next command. */
function migrationsCheck(app: App, status: MigrationStatus): Check {
  const name = 'migrations';
  const { pending, changed, missing, applied } = status;
  const isEmbedded = app.config.database.kind === 'embedded';
  if (missing.length > 0) {
    return { name, kind: 'problem', words: `made by a newer tieout: ${missing.join(', ')}` };
  }
  if (changed.length > 0) {
    return {
      name,
      kind: 'problem',
      words: `edited since they were applied: ${changed.join(', ')}`,
    };
  }
  const skipped = skippedWords(status);
  if (skipped !== null) return { name, kind: 'problem', words: skipped };
  if (pending.length === 0) return { name, kind: 'ok', words: `${applied.length} applied` };
  const cure = isEmbedded ? 'the next command applies them' : '`tieout migrate up`';
  const kind = isEmbedded ? 'ok' : 'problem';
  return { name, kind, words: `${pending.length} pending: ${cure}` };
}

/** Is there room for a run and for workers beside those that are connected now? */
function connectionsCheck(app: App, { connections }: ServerFacts): Check {
  const { max, used } = connections;
  const onQueue = app.config.queue.kind === 'database' ? QUEUE_CONNECTIONS_MAX : 0;
  const each = PROCESS_CONNECTIONS_MAX + onQueue;
  const room = Math.max(0, Math.floor((max - used) / each));
  return {
    name: 'connections',
    kind: room < 1 ? 'warning' : 'ok',
    words: `${used} of ${max} in use; room for ${room} more process(es) of at most ${each} each`,
  };
}

/** What forbids sending, and what does in live alone: see send/journal/journalGuard.ts. */
function durabilityCheck(server: ServerFacts, environment: 'test' | 'live'): Check {
  const { fsync, fullPageWrites, synchronousCommit, isReplica } = server;
  const outlivesItself = synchronousCommit !== 'off' && !isReplica;
  const outlivesMachine = fsync !== 'off' && fullPageWrites !== 'off';
  const isSending = outlivesItself && (outlivesMachine || environment === 'test');
  const what =
    `fsync ${fsync}, full_page_writes ${fullPageWrites}, ` +
    `synchronous_commit ${synchronousCommit}${isReplica ? ', a replica' : ''}`;
  if (!isSending) return { name: 'durability', kind: 'problem', words: `${what}: nothing is sent` };
  if (outlivesMachine) return { name: 'durability', kind: 'ok', words: what };
  const words = `${what}: enough for a test; nothing is sent with it in environment live`;
  return { name: 'durability', kind: 'warning', words };
}

/** Without a run for so long, nobody seems to start them. */
const SILENT_DAYS_MAX = 3;

/** Does anybody begin the runs? */
async function scheduleCheck(app: App): Promise<Check> {
  const { owed, facts, run, now, silence } = await readSchedule(scheduleDepsOf(app));
  const name = 'nights';
  if (standsStill(silence)) return { name, kind: 'problem', words: silenceSentence(silence) };
  const next = nextSentence(facts, owed);
  if (owed.kind === 'nothing' && run === null) return { name, kind: 'ok', words: next };
  const silentMs = run === null ? 0 : now.getTime() - run.endsAt.getTime();
  const days = Math.floor(silentMs / DAY_MS);
  if (days >= SILENT_DAYS_MAX) {
    const words = `no run for ${days} days: is \`tieout start\`, \`schedule\` or a cron job there?`;
    return { name, kind: 'problem', words };
  }
  const isLate = didNotStart(owed, now) || owed.kind === 'givenUp';
  const about = owedSentence(owed, now);
  return { name, kind: isLate ? 'warning' : 'ok', words: about === null ? next : about };
}

/** Codes without a meaning stop their orders: one place to see all of them. */
async function codesCheck(app: App): Promise<Check> {
  const odd = (await statusCodesSeen(app.db, null)).filter((word) => word.meaning === null);
  const names = [...new Set(odd.map(({ field, word }) => `${field} ${word}`))];
  return {
    name: 'words of the gateway',
    kind: odd.length > 0 ? 'warning' : 'ok',
    words:
      odd.length > 0
        ? `without a meaning in the profile: ${names.join(', ')} (\`tieout status --words\`)`
        : 'every code it used has a meaning',
  };
}

/** At night nobody looks: somebody has to be told. */
async function alertsCheck(app: App): Promise<Check> {
  const { waiting, failed, problem } = await outboxFigures(app.db);
  const why = problem === null ? '' : ` (${problem})`;
  const check = toldCheck(app.config, `; ${waiting} waiting, ${failed} given up${why}`);
  return failed > 0 ? { ...check, kind: 'warning' } : check;
}

function toldCheck({ notify }: Config, figures: string): Check {
  const told = ALERT_CHANNELS.filter((channel) => addressOf(notify, channel) !== null);
  const isNobody = told.length === 0;
  return {
    name: 'alerts',
    kind: isNobody ? 'warning' : 'ok',
    words: isNobody
      ? 'nobody is told how a night ends, nor that none came: set ' +
        ALERT_CHANNELS.map(nameOfChannel).join(', ')
      : `${told.map(nameOfChannel).join(', ')}${figures}`,
  };
}

async function queueCheck(app: App): Promise<Check> {
  const name = 'queue';
  const { queue } = app.config;
  try {
    const queues = await app.queues();
    const counts = await queues.counts();
    const failed = Object.values(counts).reduce((sum, count) => sum + count.failed, 0);
    const words = [`${queue.kind}, ${failed} failed job(s)`, ...queues.warnings];
    const kind = words.length > 1 || failed > 0 ? 'warning' : 'ok';
    return { name, kind, words: words.join('; ') };
  } catch (error) {
    const words = messageOf(error);
    return { name, kind: 'problem', words };
  }
}

interface ProfileLine {
  key: string;
  origin: string;
  /** What the gateway's document shows about it. */
  shown: string;
  value: unknown;
}

const ORIGIN_WORDS: Record<ProfileOrigin['origin'], string> = {
  file: 'set by you',
  document: 'shown by the interface',
  default: 'default of tieout',
};
const ORIGIN_WIDTH = Math.max(...Object.values(ORIGIN_WORDS).map((words) => words.length));

function profileOf(config: Config): ProfileLine[] {
  const { profile, profileFile, profileText } = config.gateway;
  const text = profileFile === null ? null : profileText;
  return profileOrigins(text, profileFile ?? 'sandbox').map(({ key, origin, shown }) => ({
    key,
    origin: ORIGIN_WORDS[origin],
    shown,
    value: key
      .split('.')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | null)?.[name], profile),
  }));
}

function profileLines(lines: readonly ProfileLine[]): string[] {
  const width = Math.max(...lines.map((line) => line.key.length));
  return lines.map(
    ({ key, origin, value }) =>
      `  ${key.padEnd(width)}  ${origin.padEnd(ORIGIN_WIDTH)}  ${JSON.stringify(value)}`,
  );
}

const MARKS: Readonly<Record<Check['kind'], Part>> = {
  ok: { text: 'ok', tone: 'good' },
  warning: { text: 'WARNING', tone: 'warn' },
  problem: { text: 'PROBLEM', tone: 'bad' },
};

function cellsOf({ kind, name, words }: Check): Part[] {
  return [MARKS[kind], name, words];
}
