// The configuration: tieout.yaml, the environment and the gateway profile it names, read once,
// checked whole and frozen (docs/CONTRACT.md section 2). The only reader of environment variables
// and of these files. It must never print a secret. Neighbours: config*.ts beside it,
// gateway/document/profile.ts.

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationError } from '../core/errors.js';
import { normalInstant } from '../core/ledger/ledgerRow.js';
import type { Hundredths } from '../core/money.js';
import type { AuthorisationRule } from '../core/orders/authorisation.js';
import { INSTRUCTION_OPERATIONS, type InstructionOperation } from '../core/orders/order.js';
import { type ReadYaml, readYaml, schemaFault } from '../core/text/readYaml.js';
import type { Account } from '../gateway/account.js';
import { type Profile, parseProfile, sandboxProfile } from '../gateway/document/profile.js';
import type { DatabaseAddress, QueueAddress } from './addresses.js';
import { baseUrlOf, databaseOf, isLoopback, queueOf } from './addresses.js';
import { interpolate } from './interpolate.js';
import { exceptionsSchema, type LiveExceptions } from './live.js';
import { type NotifySettings, notifyOf, notifySchema } from './notify.js';
import { proxyOf } from './proxy.js';
import { withMaskedHeaders, withMaskedKeys } from './secrets.js';
import { type SettlementSettings, settlementOf, settlementSchema } from './settlement.js';
import {
  amount,
  byCurrency,
  filled,
  flag,
  identifier,
  keys,
  numeric,
  percent,
  perOperation,
  timezone,
  tuning,
  whole,
} from './shapes.js';
import { cronProblem, deepFreeze, readText } from './values.js';
import { type NotificationDoor, webOf, webSchema } from './web.js';

type Mode = 'auto' | 'approve' | 'off';

type AmountByCurrency = Readonly<Record<string, Hundredths>>;

interface RunLimit {
  /** null: no limit of the number. */
  readonly count: number | null;
  /** A currency that is not in it has no limit. */
  readonly amount: AmountByCurrency;
}

interface OperationSettings {
  readonly mode: Readonly<Record<InstructionOperation, Mode>>;
  /** null: not given for the operation; given, a currency that it does not name waits. */
  readonly approveAbove: Readonly<Record<InstructionOperation, AmountByCurrency | null>>;
  readonly maxPerRun: Readonly<Record<InstructionOperation, RunLimit | null>>;
  readonly preflightMinutes: number;
  /** null: an unknown instruction waits for a person. */
  readonly resendAfterHours: number | null;
}

export interface Tolerance {
  readonly below: Hundredths;
  readonly above: Hundredths;
  /** The percent of the file in millionths: 0.5 % is 5000n, so that no float meets money. */
  readonly partsPerMillion: bigint;
}

export interface Config {
  /** Absolute path of the file that was read. */
  readonly file: string;
  readonly environment: 'test' | 'live';
  readonly database: DatabaseAddress;
  readonly queue: QueueAddress;
  readonly dataDir: string;
  readonly gateway: {
    /** `sandbox`, or an address without a slash at its end. */
    readonly baseUrl: string;
    readonly profile: Profile;
    readonly profileFile: string | null;
    readonly profileText: string;
    /** From HTTPS_PROXY; null: the gateway is reached straight. */
    readonly proxy: URL | null;
  };
  readonly accounts: readonly Account[];
  /** How long reservations hold, by account; one that is not in it: nobody said. */
  readonly authorisations: Readonly<Record<string, AuthorisationRule>>;
  readonly schedule: {
    readonly cron: string;
    readonly timezone: string;
    readonly cutOff: string;
    readonly resumeUntil: string;
  };
  readonly reconcile: {
    readonly lookbackDays: number;
    readonly graceHours: number;
    readonly tolerance: Tolerance;
    readonly staleAuthorisationDays: number;
  };
  readonly operations: OperationSettings;
  readonly reports: { readonly dir: string; readonly keepDays: number };
  readonly retention: { readonly evidenceMonths: number | null };
  /** null: nothing of settlement is kept, asked or shown. */
  readonly settlement: SettlementSettings | null;
  /** Whether a closed day is locked by another person than closed it. */
  readonly days: { readonly secondPerson: boolean };
  /** Working days until somebody has to have acted on a break. */
  readonly breaks: { readonly dueDays: number };
  /** By which key it is signed what people decide. */
  readonly decisions: Readonly<z.infer<typeof keys>>;
  readonly web: {
    readonly host: string;
    readonly port: number;
    readonly metricsToken: string | null;
    /** null: plain HTTP, behind a proxy or on this machine alone. */
    readonly tls: { readonly cert: string; readonly key: string } | null;
    /** How people reach the console: where links of the workbooks lead. */
    readonly address: string | null;
    /** Whose X-Forwarded-* is believed: addresses, networks. */
    readonly proxies: readonly string[];
    /** null: no notifications are taken. */
    readonly notifications: NotificationDoor | null;
  };
  readonly notify: NotifySettings;
  /** What is done in a live installation all the same, and why. */
  readonly exceptions: LiveExceptions;
}

interface ConfigSource {
  /** --config. */
  readonly file?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const DEFAULT_FILE = 'tieout.yaml';
const FILE_BYTES_MAX = 1 << 20;
const [DAYS_MAX, HOURS_MAX, MINUTES_MAX] = [36_500, 24 * 366, 24 * 60] as const;
const ACCOUNTS_MAX = 1_000;

/** Reads, checks and freezes the configuration; throws ConfigurationError naming file and key. */
export function loadConfig(source: ConfigSource): Config {
  const file = findFile(source);
  const read = readYaml(readText(file, FILE_BYTES_MAX), file);
  try {
    return configOf(parseSettings(read, file, source.env), file, source.env);
  } catch (error) {
    throw withLine(error, file, read.lineOf);
  }
}

/** What is found wrong beyond the shapes, in one section or by a variable, has its line, too. */
function withLine(error: unknown, file: string, lineOf: ReadYaml['lineOf']): unknown {
  if (!(error instanceof ConfigurationError) || error.file !== file) return error;
  const { key, problem, cause } = error;
  if (/ \(line \d+\)$/.test(problem)) return error;
  const line = lineOf(key.split('.'));
  return line === '' ? error : new ConfigurationError(file, key, `${problem}${line}`, { cause });
}

function configOf(given: Settings, file: string, env: NodeJS.ProcessEnv): Config {
  const folder = dirname(file);
  const config: Config = {
    file,
    environment: given.environment,
    database: databaseOf(given.database, file),
    queue: queueOf(given.queue, file),
    dataDir: resolve(folder, given.dataDir),
    gateway: gatewayOf(given, file, env),
    accounts: given.accounts.map(accountOf),
    authorisations: authorisationsOf(given.accounts),
    schedule: given.schedule,
    reconcile: { ...given.reconcile, tolerance: toleranceOf(given.reconcile.tolerance) },
    operations: operationsOf(given.operations),
    reports: { ...given.reports, dir: resolve(folder, given.reports.dir) },
    retention: given.retention,
    settlement: settlementOf(given.settlement, file, given.accounts),
    days: given.days,
    breaks: given.breaks,
    decisions: withMaskedKeys({ ...given.decisions }, ['key']),
    web: webOf(given.web, folder),
    notify: notifyOf(given.notify),
    exceptions: given.exceptions as LiveExceptions,
  };
  return deepFreeze(config);
}

function findFile({ file, env, cwd }: ConfigSource): string {
  const named = file ?? (env.TIEOUT_CONFIG || undefined);
  if (named !== undefined) return resolve(cwd, named);
  const found = resolve(cwd, DEFAULT_FILE);
  if (existsSync(found)) return found;
  throw new ConfigurationError(
    found,
    '',
    'there is no configuration (no --config, no TIEOUT_CONFIG, no ./tieout.yaml): ' +
      '`tieout init` writes one, `tieout demo` shows a night without one',
  );
}

// What the file may hold; shapes.ts has what more than one section holds.

const months = whole(3, 1_200);
const hours = numeric(z.number().min(0).max(HOURS_MAX));
const instant = filled.transform((text, context): Date => {
  const normal = normalInstant(text);
  if (normal !== null) return new Date(normal);
  context.addIssue({ code: 'custom', message: 'must be a time such as 2026-11-01T00:00:00Z' });
  return z.NEVER;
});
const clockTime = filled.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 00:00');
const cron = filled.superRefine((text, context) => {
  const message = cronProblem(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});
const mode = z.enum(['auto', 'approve', 'off']).default('approve');

/** An address, or its parts: a password needs no encoding there. */
const server = {
  url: filled.optional(),
  host: filled.optional(),
  port: whole(1, 65_535).optional(),
  name: filled.optional(),
  user: filled.optional(),
  password: filled.optional(),
};

const settingsSchema = z.strictObject({
  environment: z.enum(['test', 'live']).default('test'),
  database: z.strictObject(server).prefault({}),
  queue: z.strictObject({ ...server, tls: flag.optional() }).prefault({}),
  dataDir: filled.default('./var'),
  gateway: z
    .strictObject({ baseUrl: filled.default('sandbox'), profile: filled.default('sandbox') })
    .prefault({}),
  accounts: z
    .array(
      z.strictObject({
        merchantId: identifier,
        accountId: identifier,
        signingKey: filled,
        previousSigningKey: filled.nullable().default(null),
        liveFrom: instant.nullable().default(null),
        authorisation: z
          .strictObject({
            validHours: whole(1, HOURS_MAX),
            warnHours: whole(0, HOURS_MAX).default(24),
          })
          .nullable()
          .default(null),
      }),
      'must be given: a list of accounts',
    )
    .min(1, 'at least one account must be given')
    .max(ACCOUNTS_MAX),
  schedule: tuning({
    cron: cron.default('15 4 * * *'),
    timezone: timezone.default('Europe/Berlin'),
    cutOff: clockTime.default('00:00'),
    resumeUntil: clockTime.default('06:30'),
  }),
  reconcile: tuning({
    lookbackDays: whole(0, DAYS_MAX).default(35),
    graceHours: hours.default(24),
    tolerance: tuning({ below: amount.default(0n), above: amount.default(0n), percent }),
    staleAuthorisationDays: whole(0, DAYS_MAX).default(6),
  }),
  operations: tuning({
    capture: mode,
    cancel: mode,
    refund: mode,
    review: mode,
    payout: mode,
    approveAbove: perOperation(byCurrency),
    maxPerRun: perOperation(
      z.strictObject({
        count: whole(0, Number.MAX_SAFE_INTEGER).nullable().default(null),
        amount: byCurrency.default({}),
      }),
    ),
    preflightMinutes: whole(1, MINUTES_MAX).default(30),
    resendAfterHours: hours.nullable().default(null),
  }),
  reports: tuning({
    dir: filled.default('./var/reports'),
    keepDays: whole(1, DAYS_MAX).default(3650),
  }),
  retention: tuning({ evidenceMonths: months.nullable().default(null) }),
  settlement: settlementSchema,
  days: tuning({ secondPerson: flag.default(false) }),
  breaks: tuning({ dueDays: whole(0, DAYS_MAX).default(5) }),
  decisions: keys,
  web: webSchema,
  notify: notifySchema,
  exceptions: exceptionsSchema,
});

type Settings = z.infer<typeof settingsSchema>;

function parseSettings(
  { value, lineOf }: ReadYaml,
  file: string,
  env: NodeJS.ProcessEnv,
): Settings {
  const filledIn = interpolate(value, env, file);
  const read = settingsSchema.safeParse(filledIn);
  if (!read.success) throw schemaFault(file, read.error.issues, lineOf);
  refuseTwins(read.data.accounts, file, lineOf);
  return read.data;
}

function refuseTwins(
  accounts: Settings['accounts'],
  file: string,
  lineOf: ReadYaml['lineOf'],
): void {
  const seen = new Set<string>();
  for (const [index, { accountId }] of accounts.entries()) {
    if (seen.has(accountId)) {
      const path = ['accounts', String(index), 'accountId'];
      const problem = `${accountId} is given twice${lineOf(path)}`;
      throw new ConfigurationError(file, path.join('.'), problem);
    }
    seen.add(accountId);
  }
}

function accountOf({ authorisation: _, ...given }: Settings['accounts'][number]): Account {
  return withMaskedKeys({ ...given }, ['signingKey', 'previousSigningKey']);
}

function authorisationsOf(accounts: Settings['accounts']): Config['authorisations'] {
  return Object.fromEntries(
    accounts.flatMap(({ accountId, authorisation }) => {
      return authorisation === null ? [] : [[accountId, authorisation]];
    }),
  );
}

function gatewayOf(given: Settings, file: string, env: NodeJS.ProcessEnv): Config['gateway'] {
  const { profile } = given.gateway;
  const baseUrl = baseUrlOf(given.gateway.baseUrl, given.environment, file);
  const proxy = proxyOf(baseUrl, env);
  if (profile !== 'sandbox') {
    const profileFile = resolve(dirname(file), profile);
    const profileText = readText(profileFile, FILE_BYTES_MAX, { file, key: 'gateway.profile' });
    const isSandbox = baseUrl === 'sandbox';
    const read = parseProfile(profileText, profileFile, { isSandbox });
    read.signing.headers = withMaskedHeaders(read.signing.headers);
    return { baseUrl, profile: read, profileFile, profileText, proxy };
  }
  // On loopback it is the sandbox, started by hand.
  if (baseUrl !== 'sandbox' && !isLoopback(baseUrl)) {
    throw new ConfigurationError(
      file,
      'gateway.profile',
      'signing and statuses must be given in a profile file for this gateway: ' +
        '`sandbox` is the profile of the sandbox only',
    );
  }
  const sandbox = sandboxProfile();
  const profileText = JSON.stringify(sandbox);
  return { baseUrl, profile: sandbox, profileFile: null, profileText, proxy };
}

function toleranceOf(given: Settings['reconcile']['tolerance']): Tolerance {
  return { below: given.below, above: given.above, partsPerMillion: given.percent };
}

function operationsOf(given: Settings['operations']): OperationSettings {
  const each = <T>(pick: (operation: InstructionOperation) => T) =>
    Object.fromEntries(INSTRUCTION_OPERATIONS.map((name) => [name, pick(name)])) as Record<
      InstructionOperation,
      T
    >;
  return {
    mode: each((name) => given[name]),
    approveAbove: each((name) => given.approveAbove[name] ?? null),
    maxPerRun: each((name) => given.maxPerRun[name] ?? null),
    preflightMinutes: given.preflightMinutes,
    resendAfterHours: given.resendAfterHours,
  };
}

/** The configuration as this process finds it: its environment, its working folder. */
export function loadConfigHere(file?: string): Config {
  const source = { env: process.env, cwd: process.cwd() };
  return loadConfig(file === undefined ? source : { ...source, file });
}
