// Several hosts on one machine: network namespaces with a name of their own, joined to this one by a
// pair of virtual network cards, and a line that can be cut. For root on Linux only; elsewhere
// `hostsMissing` says why, for the title of a skipped test.

import { spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

const PROBE = `tieout${process.pid}`;

function words(line: string): { ok: boolean; said: string } {
  const [command = '', ...args] = line.split(' ');
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return { ok: status === 0, said: stderr ?? '' };
}

function must(line: string): void {
  const { ok, said } = words(line);
  if (!ok) throw new Error(`${line}: ${said.trim()}`);
}

/** Null where network namespaces can be made. */
export function hostsMissing(): string | null {
  if (!words(`ip netns add ${PROBE}`).ok) return 'no network namespaces here (root on Linux)';
  must(`ip netns del ${PROBE}`);
  return null;
}

export interface TestHost {
  name: string;
  /** this machine, as the host sees it */
  gateway: string;
  /** what runs a command there */
  prefix: string[];
  cut(): void;
  join(): void;
  end(): void;
}

export function addHost(name: string, number: number): TestHost {
  const space = `${PROBE}${name}`;
  const [here, there] = [`tt${number}h${process.pid}`, `tt${number}g${process.pid}`];
  const [gateway, own] = [`10.213.${number}.1`, `10.213.${number}.2`];
  must(`ip netns add ${space}`);
  must(`ip link add ${here} type veth peer name ${there} netns ${space}`);
  must(`ip addr add ${gateway}/30 dev ${here}`);
  must(`ip link set ${here} up`);
  for (const line of [
    `addr add ${own}/30 dev ${there}`,
    `link set ${there} up`,
    'link set lo up',
  ]) {
    must(`ip -n ${space} ${line}`);
  }
  const named = `hostname ${name} && exec "$@"`;
  return {
    name,
    gateway,
    prefix: ['ip', 'netns', 'exec', space, 'unshare', '--uts', 'sh', '-c', named, 'sh'],
    cut: () => must(`ip link set ${here} down`),
    join: () => must(`ip link set ${here} up`),
    end: () => {
      words(`ip link del ${here}`);
      words(`ip netns del ${space}`);
    },
  };
}

export interface Line {
  port: number;
  close(): void;
}

/** Passes connections on, byte by byte: to a port of this machine or to the socket of a server. */
export async function passOn(
  address: string,
  to: { port: number } | { path: string },
): Promise<Line> {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const on = 'path' in to ? connect(to.path) : connect(to.port, '127.0.0.1');
    for (const [one, other] of [
      [from, on],
      [on, from],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const found = server.address();
  if (found === null || typeof found === 'string') throw new Error('no port');
  return {
    port: found.port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
