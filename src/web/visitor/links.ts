// Links that work once: for the first administrator, and for anybody who is to choose a password.
// Only the digest is kept, so that whoever reads the database finds no way in.

import { newToken, tokenDigest } from '../../access/password.js';
import { keepLink } from '../../access/usersStore.js';
import type { Config } from '../../config/config.js';
import type { Database } from '../../database/db.js';

const HOUR_MS = 3_600_000;
const LINK_HOURS = 24;

/** The path of a new link; the ones before it, for the same person, work no more. */
export async function makeLink(
  { db, config }: { db: Database; config: Pick<Config, 'decisions'> },
  userId: bigint | null,
  now: Date,
): Promise<string> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + LINK_HOURS * HOUR_MS);
  await keepLink(db, { sha256: tokenDigest(token, config.decisions.key), userId, now, expiresAt });
  return `/welcome/${token}`;
}
