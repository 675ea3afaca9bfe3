// Whether what people decided was decided through tieout: each decision bears a signature by a key
// that lies outside of the database. From when on they do is said by the signed ends of the chains,
// outside of it as well, so that nobody makes one that is older than that. Neighbours:
// signatures/signaturesStore.ts signs, signedHeadsStore.ts reads the ends.

import type { DecisionKeys } from '../../core/decisions/decisionKeys.js';
import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import { type SignedKind, sessionOf, signedFacts } from '../../signatures/signaturesStore.js';

export interface DecisionsFinding {
  /** by a key that counts */
  signed: number;
  /** unsigned, and sealed before decisions were signed: nothing to be said of them */
  before: number;
  /** false: no run has ended since there is a key, so that unsigned ones cannot be judged yet */
  isAnchored: boolean;
  /** unsigned although they had to be */
  unsigned: number;
  /** the first of these, in words */
  named: string[];
}

const KINDS: readonly SignedKind[] = ['decision', 'break', 'day', 'brake', 'redaction'];
const AT_ONCE = 1_000;
const NAMED_MAX = 1_000;

/**
 * `from`: of each chain the link in which it ended as the first run with a key did; a chain that is
 * not in it began later. Null: no such end is known.
 */
export async function checkDecisions(
  db: Db,
  keys: DecisionKeys,
  from: ReadonlyMap<string, bigint> | null,
): Promise<DecisionsFinding> {
  const found: DecisionsFinding = {
    ...{ signed: 0, before: 0, isAnchored: from !== null, unsigned: 0, named: [] },
  };
  for (const what of KINDS) {
    for await (const rows of decidedByPeople(db, what)) {
      const ids = rows.map(({ id }) => id);
      const facts = await signedFacts(db, what, ids);
      const genuine = new Set(
        facts.filter((fact) => sessionOf(keys, what, fact) !== null).map(({ id }) => id),
      );
      found.signed += genuine.size;
      for (const { id, accountId, linkNo } of rows) {
        if (genuine.has(id)) continue;
        const isBefore =
          from === null || (linkNo !== null && linkNo <= (from.get(accountId) ?? 0n));
        if (isBefore) {
          found.before += 1;
          continue;
        }
        found.unsigned += 1;
        if (found.named.length < NAMED_MAX) {
          const chain = accountId === '' ? '' : ` of account ${accountId}`;
          found.named.push(`${NAMES[what]} ${id}${chain}`);
        }
      }
    }
  }
  return found;
}

const NAMES: Readonly<Record<SignedKind, string>> = {
  decision: 'decision',
  break: 'event of a break',
  day: 'event of a business day',
  brake: 'word that stops sending, or resumes it',
  redaction: 'redaction',
};

interface DecidedRow {
  id: bigint;
  accountId: string;
  /** null: nothing seals it */
  linkNo: bigint | null;
}

async function* decidedByPeople(db: Db, what: SignedKind): AsyncGenerator<DecidedRow[]> {
  let after = 0n;
  for (;;) {
    const { rows } = await db.query<DecidedRow>(statement('verify/decisions/decidedByPeople'), [
      what,
      after,
      AT_ONCE,
    ]);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    after = last.id;
  }
}
