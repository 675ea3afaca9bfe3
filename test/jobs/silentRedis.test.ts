// A Redis whose host vanishes without a word: connections that stand swallow what is sent, and the
// address leads to another one by then. It is found while a run waits for it, by enqueuing and by
// the workers alike.

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import { QUEUE_MINUTES_MAX } from '../../src/runs/waitForRows.js';
import { latch } from '../support/latch.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import { houseOf } from './house.js';

const skipped = privateRedisMissing === null ? '' : ` (skipped: ${privateRedisMissing})`;
/** As much as is asked of it here; a run waits for longer. */
const FOUND_WITHIN_MS = 60_000;

interface Between {
  port: number;
  /** Connections that stand are dead from now on, and nobody is told; new ones are well. */
  swallow(): void;
  end(): Promise<void>;
}

async function standBefore(port: number): Promise<Between> {
  const sockets = new Set<Socket>();
  let generation = 0;
  const server = createServer((client) => {
    const mine = generation;
    const redis = connect(port, '127.0.0.1');
    const pass = (from: Socket, to: Socket): void => {
      sockets.add(from);
      // Read and thrown away: no byte, no end and no reset reaches the other side.
      from.on('data', (bytes) => mine === generation && to.write(bytes));
      from.on('close', () => mine === generation && to.destroy());
      from.on('error', () => {});
    };
    pass(client, redis);
    pass(redis, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      generation += 1;
    },
    end: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe.skipIf(privateRedisMissing !== null)(`a Redis that vanishes${skipped}`, () => {
  it('without a word is found anew, by who enqueues and by the workers', async () => {
    const server = await startRedis();
    const between = await standBefore(Number(new URL(server.url).port));
    const house = houseOf({ kind: 'redis', url: `redis://127.0.0.1:${between.port}` }, async () => {
      await between.end();
      await server.end();
    });
    onTestFinished(() => house.end());
    const queues = await house.open();
    const heard: string[] = [];
    const [begun, go] = [latch(), latch()];
    await house.work(queues, {
      report: async (id) => {
        heard.push(id);
        if (id !== 'r1') return;
        begun.open();
        await go.promise;
      },
    });
    await queues.enqueue('report', ['r1']);
    await begun.promise;

    between.swallow();
    const vanished = performance.now();
    const passed = (): number => performance.now() - vanished;
    // The job under way ends meanwhile, and is told to nobody.
    go.open();
    while (!heard.includes('r2') && passed() < FOUND_WITHIN_MS) {
      await queues.enqueue('report', ['r2']).catch((error) => {
        expect(error).toBeInstanceOf(UnreachableError);
      });
      await sleep(500);
    }
    expect(heard).toContain('r2');
    expect(FOUND_WITHIN_MS).toBeLessThan(QUEUE_MINUTES_MAX * 60_000);
  }, 120_000);

  it('is not taken for that one while there is nothing to do', async () => {
    const server = await startRedis();
    const house = houseOf({ kind: 'redis', url: server.url }, () => server.end());
    onTestFinished(() => house.end());
    const queues = await house.open();
    await house.work(queues);
    const before = await server.command('INFO', 'stats');
    await sleep(25_000);
    expect(connections(await server.command('INFO', 'stats'))).toBe(connections(before) + 1);
    expect(house.lines).toEqual([]);
  }, 60_000);
});

/** How many were ever made; who asks makes one. */
function connections(info: unknown): number {
  return Number(/total_connections_received:(\d+)/.exec(String(info))?.[1]);
}
