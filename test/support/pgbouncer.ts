// A real PgBouncer before the tests' PostgreSQL, in transaction mode and with few sessions, so that
// two transactions of one client seldom meet the same session. Where it is not installed,
// `pgbouncerMissing` says so, for the title of a skipped test.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../src/database/connection.js';
import { openClient } from '../../src/database/connection.js';
import { freePort } from './redis.js';

const READY_POLLS = 100;
const READY_POLL_MS = 50;
const SESSIONS = 4;
const installed = spawnSync('pgbouncer', ['--version']).status === 0;

/** Null where the tests can run; else the reason, fit for a title. */
export const pgbouncerMissing: string | null = installed ? null : 'no pgbouncer on PATH';

export interface TestPooler {
  /** The same database through the pooler. */
  connection: { connectionString: string };
  end(): Promise<void>;
}

export async function startPgbouncer(server: Connection): Promise<TestPooler> {
  if ('connectionString' in server) throw new Error('only before a server on a socket');
  const folder = mkdtempSync(join(tmpdir(), 'tieout-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${server.user}" ""\n`);
  const lines = [
    '[databases]',
    `* = host=${server.host} port=5432 user=${server.user}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${SESSIONS}`,
    'server_login_retry = 1',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  // It refuses to run as root, and only the server's own user may open the server's socket.
  const { uid, gid } = statSync(server.host);
  if (process.getuid?.() === 0) await admit(server, uid);
  const pooler = spawn('pgbouncer', [file], { stdio: 'ignore', uid, gid });
  const connection = {
    connectionString: `postgres://${server.user}@127.0.0.1:${port}/${server.database}`,
  };
  const end = async (): Promise<void> => {
    if (pooler.exitCode === null && pooler.signalCode === null) {
      const gone = once(pooler, 'exit');
      pooler.kill('SIGKILL');
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  for (let poll = 1; poll <= READY_POLLS && pooler.exitCode === null; poll += 1) {
    const client = await openClient(connection).catch(() => null);
    if (client !== null) {
      await client.end();
      return { connection, end };
    }
    await sleep(READY_POLL_MS);
  }
  await end();
  throw new Error('pgbouncer did not answer');
}

/** Started by root, the tests' server is entered by root alone; the pooler is another account. */
async function admit(server: Connection, uid: number): Promise<void> {
  const name = execFileSync('id', ['-nu', `${uid}`], { encoding: 'utf8' }).trim();
  const client = await openClient(server);
  try {
    const { rows } = await client.query<{ ident_file: string }>('show ident_file');
    appendFileSync(rows[0]?.ident_file ?? '', `tieout ${name} all\n`);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}
