// One digest for all chains of a database: what a person writes down, or sends to somebody else,
// and compares later. Whoever rewrites a whole chain cannot rewrite that. Pure; the links
// themselves are worked out by PostgreSQL (migrations/0013), so that facts need not leave it.

import { createHash } from 'node:crypto';

/** The digest of lines "account link-number digest", by account, each ended by a line feed. */
export function headDigest(
  heads: readonly { accountId: string; linkNo: bigint; sha256: string }[],
): string {
  const lines = [...heads]
    .sort((one, other) => (one.accountId < other.accountId ? -1 : 1))
    .map(({ accountId, linkNo, sha256 }) => `${accountId} ${linkNo} ${sha256}\n`);
  return createHash('sha256').update(lines.join(''), 'utf8').digest('hex');
}
