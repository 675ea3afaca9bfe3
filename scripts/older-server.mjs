// Tests of what speaks SQL on the PostgreSQL server that this machine's distribution has, which is
// older than the embedded one: it plans otherwise, refuses rights that the newer one does not, and
// casts less. Servers are looked for where Debian puts them, or in POSTGRES_BIN. Use, with the
// folders or files of tests instead of those below, and whatever vitest takes:
//   npm run older [-- test/report --reporter=default]

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SPEAK_SQL = [
  ...['breaks', 'days', 'intruders', 'movements', 'report', 'retention', 'runs', 'settlement'],
  ...['total', 'plan'],
].map((folder) => `test/${folder}`);
const DEBIAN = '/usr/lib/postgresql';
const START_MS = 30_000;

const bin = process.env.POSTGRES_BIN ?? oldestIn(DEBIAN);
if (bin === null) {
  console.error(`no PostgreSQL server in ${DEBIAN}: install postgresql, or set POSTGRES_BIN`);
  process.exit(2);
}
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tieout-older-'));
const owner = ownerOf(folder);
const server = await started();
let code = 1;
try {
  const words = process.argv.slice(2);
  const chosen = words.some((word) => word.startsWith('test/')) ? words : [...SPEAK_SQL, ...words];
  code = await testsOf(chosen);
} finally {
  server.kill('SIGINT');
  await new Promise((done) => server.once('exit', done));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);

function oldestIn(place) {
  const majors = existsSync(place) ? readdirSync(place).map(Number).filter(Boolean) : [];
  const oldest = majors
    .sort((one, other) => one - other)
    .map((major) => join(place, String(major), 'bin'))
    .find((path) => existsSync(join(path, 'initdb')));
  return oldest ?? null;
}

/** The server refuses root: the account of the package, which a folder in memory is given to. */
function ownerOf(path) {
  if (process.getuid?.() !== 0) return {};
  const id = (what) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  const found = { uid: id('-u'), gid: id('-g') };
  chmodSync(path, 0o755);
  for (const part of ['data', 'socket']) {
    mkdirSync(join(path, part));
    chownSync(join(path, part), found.uid, found.gid);
  }
  return found;
}

async function started() {
  const [data, socket] = ['data', 'socket'].map((part) => join(folder, part));
  if (!existsSync(socket)) mkdirSync(socket);
  const made = ['-D', data, '-U', 'tieout', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  execFileSync(join(bin, 'initdb'), made, { ...owner, stdio: ['ignore', 'ignore', 'inherit'] });
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socket,
    max_connections: 300,
    max_locks_per_transaction: 256,
    shared_buffers: '256MB',
    // A failed machine loses nothing that anybody wants.
    fsync: 'off',
    full_page_writes: 'off',
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...words], { ...owner, stdio: 'ignore' });
  const end = Date.now() + START_MS;
  while (!existsSync(join(socket, '.s.PGSQL.5432'))) {
    if (child.exitCode !== null || Date.now() > end)
      throw new Error(`${bin}/postgres did not start`);
    await new Promise((wake) => setTimeout(wake, 100));
  }
  return child;
}

async function testsOf(words) {
  const version = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).trim();
  console.log(`== on ${version}`);
  const address = `postgres://tieout@localhost/postgres?host=${encodeURIComponent(join(folder, 'socket'))}`;
  const vitest = spawn('npx', ['vitest', 'run', ...words], {
    env: { ...process.env, TEST_DATABASE_URL: address },
    stdio: 'inherit',
  });
  return new Promise((done) => vitest.once('exit', (status) => done(status ?? 1)));
}
