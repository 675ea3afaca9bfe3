// The signatures under what people decided: written in the transaction that decides, over the fact
// as the chain digests it, and read by whoever has to know that a decision is genuine. A decision
// without one that counts was made behind the program's back, or before there was a key.
// Neighbours: core/decisions/decisionKeys.ts signs and checks, send/permit.ts and
// verify/decisions/signedDecisionsStore.ts ask.

import type { DecidedFact, DecisionKeys } from '../core/decisions/decisionKeys.js';
import type { Decider } from '../core/instructions/decider.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** As the chain names them. */
export type SignedKind = 'decision' | 'break' | 'day' | 'brake' | 'redaction';

/** Does nothing where nothing is signed: no key, or tieout itself decided. */
export async function signDecided(
  tx: Db,
  who: Pick<Decider, 'proof'>,
  what: SignedKind,
  ids: readonly bigint[],
): Promise<void> {
  const { proof } = who;
  if (!proof || ids.length === 0) return;
  const { rows } = await tx.query<{ id: bigint; account_id: string; line: string }>(
    `select pos as id, account_id, line from tieout.facts
     where what = $1 and pos = any ($2::bigint[])`,
    [what, ids.map(String)],
  );
  await tx.query(
    `insert into tieout.signatures (what, fact_id, session, signature)
     select $1, s.id, $2, s.signature from unnest($3::bigint[], $4::bytea[]) as s (id, signature)`,
    [
      what,
      proof.session,
      rows.map(({ id }) => String(id)),
      rows.map(({ account_id: accountId, line }) => proof.sign({ what, accountId, line })),
    ],
  );
}

/** A fact with the signatures that were written for it. */
interface MaybeSigned {
  id: bigint;
  accountId: string;
  line: string;
  signatures: readonly { session: string; signature: string }[];
}

/** From where it was decided, if a signature counts; null: none does. */
export function sessionOf(
  keys: DecisionKeys,
  what: SignedKind,
  { accountId, line, signatures }: MaybeSigned,
): string | null {
  const fact: DecidedFact = { what, accountId, line };
  const found = signatures.find(({ session, signature }) =>
    keys.isSigned(fact, session, Buffer.from(signature, 'base64')),
  );
  return found?.session ?? null;
}

/** Those of these facts that nobody with a key signed. */
export async function unsignedOf(
  db: Db,
  keys: DecisionKeys,
  what: SignedKind,
  ids: readonly bigint[],
): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const facts = await signedFacts(db, what, ids);
  const signed = new Set(
    facts.filter((fact) => sessionOf(keys, what, fact) !== null).map(({ id }) => id),
  );
  return ids.filter((id) => !signed.has(id));
}

/** Named, so that the many kinds of facts are planned once a session. */
export async function signedFacts(
  db: Db,
  what: SignedKind,
  ids: readonly bigint[],
): Promise<MaybeSigned[]> {
  const { rows } = await db.query<MaybeSigned>(
    statement('signatures/signedFacts'),
    [what, ids.map(String)],
    'signedFacts',
  );
  return rows;
}
