// What an installation that moves real money must not do unless somebody says so by name: traffic
// that others on the way can read or change, answers whose signature nobody looks at, payouts that
// nobody sees, a role of the database that may do anything. Pure: it reads the configuration and
// what the database said of the role. Neighbours: cli/liveGuard.ts refuses, doctor shows.

import { z } from 'zod';
import { ALERT_CHANNELS, addressOf, nameOfChannel } from '../core/alertChannels.js';
import type { DatabaseAddress, QueueAddress } from './addresses.js';
import { isLoopback } from './addresses.js';
import type { NotifySettings } from './notify.js';
import { filled } from './shapes.js';

const LIVE_RISKS = [
  'plainDatabase',
  'plainQueue',
  'plainNotify',
  'uncheckedAnswers',
  'unseenPayouts',
  'superuser',
  'plainConsole',
  'embeddedDatabase',
] as const;
type LiveRiskName = (typeof LIVE_RISKS)[number];

/** By the name of the risk: why it is taken, in a sentence that doctor and the record show. */
export type LiveExceptions = Readonly<Partial<Record<LiveRiskName, string>>>;

const reason = filled.optional();
export const exceptionsSchema = z
  .strictObject({
    plainDatabase: reason,
    plainQueue: reason,
    plainNotify: reason,
    uncheckedAnswers: reason,
    unseenPayouts: reason,
    superuser: reason,
    plainConsole: reason,
    embeddedDatabase: reason,
  } satisfies Record<LiveRiskName, typeof reason>)
  .prefault({});

/** Beside a gateway of this machine, whose money is no shop's, they are only told of. */
const OLD_LIBRARIES =
  'the embedded server brings its own libraries, OpenSSL 1.1.1 among them, that nobody mends: ' +
  'use a PostgreSQL server that your system keeps up to date';

interface LiveRisk {
  readonly name: LiveRiskName;
  /** the key of tieout.yaml, or of the profile, that would have to be another */
  readonly key: string;
  readonly words: string;
  /** why it is taken all the same; null: nobody said so, and nothing begins */
  readonly excepted: string | null;
}

/** What of the configuration is judged. */
interface Judged {
  readonly environment: 'test' | 'live';
  readonly database: DatabaseAddress;
  readonly queue: QueueAddress;
  readonly gateway: {
    readonly baseUrl: string;
    readonly profile: { readonly signing: { readonly responses: 'off' | 'warn' | 'enforce' } };
  };
  readonly notify: NotifySettings;
  readonly web: {
    readonly host: string;
    readonly address: string | null;
    readonly tls: object | null;
  };
  readonly operations: { readonly mode: { readonly payout: string } };
  readonly exceptions: LiveExceptions;
}

/** Empty where the environment is not live. `isSuperuser`: what the program signs in as. */
export function liveRisks(config: Judged, isSuperuser: boolean): LiveRisk[] {
  if (config.environment !== 'live') return [];
  const { database, queue, gateway, notify, operations, exceptions, web } = config;
  const found: Omit<LiveRisk, 'excepted'>[] = [];
  const add = (name: LiveRiskName, key: string, words: string) => found.push({ name, key, words });
  if (database.kind === 'url' && !isSafeDatabase(database.url)) {
    const cure = 'add ?sslmode=verify-full, and sslrootcert=FILE for a certificate of your own';
    add('plainDatabase', 'database.url', `goes to another machine without checked TLS: ${cure}`);
  }
  if (queue.kind === 'redis' && !isSafeQueue(queue.url)) {
    add('plainQueue', 'queue.url', 'goes to another machine without TLS: rediss:// has it');
  }
  for (const channel of ALERT_CHANNELS) {
    const address = addressOf(notify, channel);
    if (address === null || isLoopback(address) || address.startsWith('https:')) continue;
    add(
      'plainNotify',
      nameOfChannel(channel),
      'goes to another machine without TLS: https:// has it',
    );
  }
  const { signing } = gateway.profile;
  if (isReal(gateway.baseUrl) && signing.responses === 'off') {
    const words = 'answers that move money are believed unsigned: warn, then enforce';
    add('uncheckedAnswers', 'signing.responses of the profile', words);
  }
  if (isReal(gateway.baseUrl) && operations.mode.payout === 'auto') {
    const words =
      'payouts go without anybody, and the gateway shows none of them afterwards: only its ' +
      'answer and a notification tell. approve has a person look';
    add('unseenPayouts', 'operations.payout', words);
  }
  if (database.kind === 'embedded' && isReal(gateway.baseUrl)) {
    add('embeddedDatabase', 'database.url', OLD_LIBRARIES);
  }
  if (isSuperuser && database.kind === 'url') {
    const cure = 'make a role that owns the database and may do nothing else';
    add('superuser', 'database.user', `is a superuser of its server: ${cure}`);
  }
  const isHttps = web.tls !== null || web.address?.startsWith('https:') === true;
  if (!isLoopbackHost(web.host) && !isHttps) {
    const cure = 'web.tls, or TLS in front and https://... as people open it';
    add('plainConsole', 'web.address', `the console listens beyond this machine: ${cure}`);
  }
  return found.map((risk) => ({ ...risk, excepted: exceptions[risk.name] ?? null }));
}

/** What a live installation may do and had better not. `isOwner`: the program owns the tables. */
export function liveWarnings(config: Judged, isOwner = false): string[] {
  if (config.environment !== 'live') return [];
  const { database, gateway, notify, web } = config;
  return [
    ...(database.kind === 'embedded' && !isReal(gateway.baseUrl)
      ? [`database.url: ${OLD_LIBRARIES}`]
      : []),
    ...(isOwner && database.kind === 'url'
      ? [
          'database.user: owns the tables, and can take away what guards them: let another role ' +
            'work with them (`tieout migrate up --writer NAME`; docs/OPERATIONS.md has the steps)',
        ]
      : []),
    ...(isReal(gateway.baseUrl) && gateway.profile.signing.responses === 'warn'
      ? ['signing.responses of the profile: a wrong signature is only told; enforce refuses it']
      : []),
    ...(!isLoopbackHost(web.host) && web.tls === null
      ? [
          'web.tls: between a proxy on another machine and the console goes plain HTTP, sessions ' +
            'included: give the console a certificate of its own',
        ]
      : []),
    ...(notify.webhook !== null && notify.webhookKey === null
      ? ['notify.webhookKey: without it nobody can tell a message of ours from a made one']
      : []),
  ];
}

function isReal(baseUrl: string): boolean {
  return baseUrl !== 'sandbox' && !isLoopback(baseUrl);
}

/** As the driver reads an address: the last of several values counts. */
function isSafeDatabase(address: string): boolean {
  const url = new URL(address);
  const last = (name: string): string => url.searchParams.getAll(name).at(-1) ?? '';
  const host = last('host') || decodeURIComponent(url.hostname);
  if (host === '' || host.startsWith('/') || isLoopbackHost(host)) return true;
  const mode = last('sslmode');
  if (last('uselibpqcompat') === 'true') return mode === 'verify-full';
  if (mode === '') return ['true', '1'].includes(last('ssl')) || last('sslrootcert') !== '';
  return mode !== 'disable' && mode !== 'no-verify';
}

function isSafeQueue(address: string): boolean {
  const url = new URL(address);
  if (url.protocol === 'rediss:') return true;
  const nodes = url.searchParams.getAll('node').map((node) => new URL(`redis://${node}`));
  return [url, ...nodes].every(({ hostname }) => isLoopbackHost(hostname));
}

function isLoopbackHost(host: string): boolean {
  return isLoopback(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`);
}
