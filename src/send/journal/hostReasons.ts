// Which host a reason is of, at its end, and which reasons are one cause all the same: several
// hosts meet the same gateway, and a clock that is wrong is so by a second more or less each time.
// Neighbours: senderFitness.ts names the host, send/stops.ts tells a person each cause once.

export interface WaitingBecause {
  /** why the last try came to nothing; null: there was none */
  reason: string | null;
  instructions: number;
}

/** The reason with the name of its host, once. */
export function ofHost(reason: string, host: string): string {
  const end = ` (host ${host})`;
  return reason.endsWith(end) ? reason : `${reason}${end}`;
}

const HOST = / \(host ([^()]+)\)$/;
const CLOCK = /\d+(?= s (?:ahead of|behind) the database's)/;

/** One for each cause, the most first; the hosts that met it are joined behind it. */
export function byCause(waiting: readonly WaitingBecause[]): WaitingBecause[] {
  const causes = new Map<string | null, { words: string; hosts: Set<string>; sum: number }>();
  for (const { reason, instructions } of waiting) {
    const { words, host } = withoutHost(reason ?? '');
    const cause = reason === null ? null : words.replace(CLOCK, '');
    const found = causes.get(cause) ?? { words, hosts: new Set(), sum: 0 };
    if (host !== null) found.hosts.add(host);
    found.sum += instructions;
    causes.set(cause, found);
  }
  return [...causes]
    .map(([cause, { words, hosts, sum }]) => ({
      reason: cause === null ? null : `${words}${hostsWords([...hosts].sort())}`,
      instructions: sum,
    }))
    .sort((one, other) => other.instructions - one.instructions);
}

function withoutHost(reason: string): { words: string; host: string | null } {
  const host = HOST.exec(reason)?.[1] ?? null;
  return { words: reason.replace(HOST, ''), host };
}

function hostsWords(hosts: readonly string[]): string {
  if (hosts.length === 0) return '';
  return ` (${hosts.length === 1 ? 'host' : 'hosts'} ${hosts.join(', ')})`;
}
