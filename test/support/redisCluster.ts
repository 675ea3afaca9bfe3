// A real Redis Cluster of three nodes on loopback, without replicas, for tests of the queue. Every
// node holds a third of the slots and goes on alone while another one is away.

import { setTimeout as sleep } from 'node:timers/promises';
import type { TestRedis } from './redis.js';
import { freePort, startRedis } from './redis.js';

const THIRDS = [
  ['0', '5460'],
  ['5461', '10922'],
  ['10923', '16383'],
] as const;
const LOOKS = 200;
const POLL_MS = 50;

export interface TestCluster {
  nodes: TestRedis[];
  /** the first node, with the others named behind it */
  url: string;
  whole(): Promise<void>;
  end(): Promise<void>;
}

export async function startRedisCluster(): Promise<TestCluster> {
  const nodes = await Promise.all(THIRDS.map(() => startNode()));
  await Promise.all(
    nodes.map((node, index) => node.command('CLUSTER', 'ADDSLOTSRANGE', ...(THIRDS[index] ?? []))),
  );
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('a cluster has nodes');
  for (const { url, busPort } of others) {
    const { port } = new URL(url);
    await first.command('CLUSTER', 'MEET', '127.0.0.1', port, String(busPort));
  }
  const whole = async (): Promise<void> => {
    for (let look = 0; look < LOOKS; look += 1) {
      const said = await Promise.all(
        nodes.map((node) => node.command('CLUSTER', 'INFO').catch(() => '')),
      );
      const isWhole = (text: unknown): boolean =>
        /cluster_state:ok/.test(String(text)) && /cluster_known_nodes:3/.test(String(text));
      if (said.every(isWhole)) return;
      await sleep(POLL_MS);
    }
    throw new Error('the nodes did not become a cluster');
  };
  await whole();
  const named = others.map(({ url }) => `node=${new URL(url).host}`).join('&');
  return {
    nodes,
    url: `${first.url}?${named}`,
    whole,
    end: async () => void (await Promise.all(nodes.map((node) => node.end()))),
  };
}

async function startNode(): Promise<TestRedis & { busPort: number }> {
  const busPort = await freePort();
  const node = await startRedis([
    ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
    ...['--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', '1000'],
    ...['--cluster-require-full-coverage', 'no'],
  ]);
  return { ...node, busPort };
}
