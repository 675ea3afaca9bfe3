// A Redis server of one installation alone, which forgets, dies and comes back with what its file
// holds.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const POLLS_MAX = 400;

export async function openRedis(folder) {
  const port = await freePort();
  const dir = join(folder, 'redis');
  mkdirSync(dir);
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  const more = ['--maxmemory-policy', 'noeviction', '--appendonly', 'yes'];
  let child = null;
  const start = async () => {
    child = spawn('redis-server', [...words, ...more], { stdio: 'ignore' });
    for (let poll = 0; (await say(port, 'PING').catch(() => '')) !== '+PONG'; poll += 1) {
      if (poll > POLLS_MAX) throw new Error('redis-server does not answer');
      await sleep(POLL_MS);
    }
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    ...{ url: `redis://127.0.0.1:${port}`, start, kill },
    flush: () => say(port, 'FLUSHALL').catch(() => {}),
  };
}

function say(port, word) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    socket.on('error', reject);
    socket.on('data', (part) => {
      said += part;
      if (said.includes('\r\n')) socket.end();
    });
    socket.on('close', () => resolve(said.split('\r\n')[0]));
    socket.write(`${word}\r\n`);
  });
}

export async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
