// The queuePort on the kinds of Redis that merchants run: behind TLS with a password, as a cluster of
// three nodes of which one is lost for a while, and on a server that became a replica.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import { QUEUES } from '../../src/core/queuePort.js';
import { packageRoot } from '../../src/database/statements.js';
import { ensureBuilt } from '../support/cli.js';
import { freePort, privateRedisMissing, startRedis } from '../support/redis.js';
import { startRedisCluster } from '../support/redisCluster.js';
import type { House } from './house.js';
import { fact, houseOf } from './house.js';

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? null : 'no openssl on PATH';
const skippedRedis = privateRedisMissing === null ? '' : ` (skipped: ${privateRedisMissing})`;
const skippedTls = noOpenssl === null ? '' : ` (skipped: ${noOpenssl})`;

describe.skipIf(privateRedisMissing !== null)(`the queuePort on Redis${skippedRedis}`, () => {
  it('in a cluster of three nodes keeps each queue on one, and outlives the loss of a node', async () => {
    const cluster = await startRedisCluster();
    const house = houseOn(cluster.url, () => cluster.end());
    const queues = await house.open();
    const heard: string[] = [];
    const hear = (queue: string) => async (id: string) => void heard.push(`${queue} ${id}`);
    await house.work(queues, Object.fromEntries(QUEUES.map((queue) => [queue, hear(queue)])));
    const everywhere = (id: string) => QUEUES.map((queue) => `${queue} ${id}`).toSorted();
    for (const queue of QUEUES) await queues.enqueue(queue, ['b1']);
    await fact(() => expect(heard.toSorted()).toEqual(everywhere('b1')));
    const held = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*:meta')));
    const names = held.map((keys) => (keys as string[]).length);
    expect(names.reduce((sum, count) => sum + count, 0)).toBe(QUEUES.length);
    expect(names.filter((count) => count > 0).length).toBeGreaterThan(1);

    const lost = names.findIndex((count) => count > 0 && count < QUEUES.length);
    await cluster.nodes[lost]?.kill();
    const enqueuing = QUEUES.map((queue) =>
      queues.enqueue(queue, ['b2']).then(
        () => 'enqueued',
        (error) => error instanceof UnreachableError && 'lost',
      ),
    );
    const [first] = await Promise.all([Promise.race(enqueuing), cluster.nodes[lost]?.start()]);
    expect(first).toBe('enqueued');
    await cluster.whole();
    // As the sweep does: enqueued again for whatever was not heard.
    await fact(async () => {
      for (const queue of QUEUES) await queues.enqueue(queue, ['b3']);
      expect(heard.filter((what) => what.endsWith('b3')).length).toBeGreaterThanOrEqual(7);
    });
  });

  it('that became a replica, or is full, is refused in words, and heard again as a primary', async () => {
    const server = await startRedis();
    const house = houseOn(server.url, () => server.end());
    const queues = await house.open();
    const heard: string[] = [];
    await house.work(queues, { pull: async (id) => void heard.push(id) });
    await server.command('REPLICAOF', '127.0.0.1', String(await freePort()));
    await expect(queues.enqueue('pull', ['early'])).rejects.toThrow(/READONLY/);
    await queues.counts();
    await expect(queues.takesJobs()).rejects.toThrow(/READONLY/);
    await house.open();
    expect(house.lines.join('\n')).toContain('a replica, which takes no jobs');
    await server.command('REPLICAOF', 'NO', 'ONE');
    await fact(() => queues.enqueue('pull', ['later']));
    await fact(() => expect(heard).toContain('later'));
    await queues.takesJobs();
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    await queues.counts();
    await expect(queues.takesJobs()).rejects.toThrow(/OOM/);
    // Not where in a script of its own the server met that.
    const words = /OOM command not allowed when used memory > 'maxmemory'\.?$/;
    await expect(queues.enqueue('pull', ['more'])).rejects.toThrow(words);
  });

  it('that has no such database is refused: nothing goes to another one', async () => {
    const server = await startRedis();
    const [without, within] = ['16', '15'].map((database) =>
      houseOn(`${server.url}/${database}`, () => server.end()),
    );
    await expect(without?.open()).rejects.toThrow(
      /queue\.url.*the server has no database 16 \(ERR DB index is out of range\)/,
    );
    await (await within?.open())?.enqueue('pull', ['here']);
    expect(await server.command('DBSIZE')).toBe(0);
  });

  it.skipIf(noOpenssl !== null)(`behind TLS, with a password${skippedTls}`, async () => {
    await ensureBuilt();
    const folder = mkdtempSync(join(tmpdir(), 'tieout-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    makeCertificate(key, cert);
    const port = String(await freePort());
    const tls = ['--tls-port', port, '--tls-cert-file', cert, '--tls-key-file', key];
    const server = await startRedis([
      ...tls,
      '--tls-auth-clients',
      'no',
      '--requirepass',
      's3cret',
    ]);
    onTestFinished(async () => {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    });
    const url = `rediss://:s3cret@localhost:${port}`;
    expect(enqueueFrom(url, { NODE_EXTRA_CA_CERTS: cert })).toBe('1 waits');
    expect(enqueueFrom(url, {})).toMatch(/the server's certificate is not trusted/);
    const otherName = url.replace('localhost', '127.0.0.1');
    expect(enqueueFrom(otherName, { NODE_EXTRA_CA_CERTS: cert })).toMatch(
      /is made out to another name/,
    );
    const wrong = url.replace('s3cret', 'guessed');
    expect(enqueueFrom(wrong, { NODE_EXTRA_CA_CERTS: cert })).toMatch(/WRONGPASS/);
  });

  it.each(['node=', 'node=one', 'node=a:1/2', 'node=user@a:1', 'node=a:99999'])(
    'refuses %s in the address, naming the key',
    async (node) => {
      const house = houseOn(`redis://127.0.0.1:1?${node}`, async () => {});
      await expect(house.open()).rejects.toThrow('queue.url: node= takes host:port');
    },
  );
});

function houseOn(url: string, end: () => Promise<void>): House {
  const house = houseOf({ kind: 'redis', url }, end);
  onTestFinished(() => house.end());
  return house;
}

function makeCertificate(key: string, cert: string): void {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'ignore' });
}

/** What another process says that enqueues here: node reads its certificates when it starts. */
function enqueueFrom(url: string, env: Record<string, string>): string {
  const script = `
    const { openQueues } = await import(${JSON.stringify(join(packageRoot(), 'dist/jobs/queues.js'))});
    const { randomUUID: newId } = await import('node:crypto');
    const deps = { log: () => {}, now: () => new Date(), newId };
    const queues = await openQueues(deps, { kind: 'redis', url: process.argv[1] });
    await queues.enqueue('pull', ['w']);
    console.log(\`\${(await queues.counts()).pull.waiting} waits\`);
    await queues.close();
  `;
  const args = ['--input-type=module', '-e', script, url];
  const ended = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(ended.stdout + ended.stderr).not.toMatch(/s3cret|guessed/);
  return (ended.stdout || ended.stderr).trim();
}
