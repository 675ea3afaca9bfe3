// Takes words out of what people wrote: the one way by which what is history changes, by the owner
// of the tables alone. In the same transaction it goes on record where, by whom and why, and what
// each link of the chain that sealed such words came to before (which has to be what was sealed)
// and after; that record is sealed like any other fact. It must never keep what it takes out.
// Neighbours: redact.ts finds the words, migrations/0360_redactions.sql has the record.

import type { DecisionKeys } from '../core/decisions/decisionKeys.js';
import { TieoutError } from '../core/errors.js';
import type { Decider } from '../core/instructions/decider.js';
import type { Redaction } from '../core/runs/redaction.js';
import type { Database, Db } from '../database/db.js';
import { identifier, named } from '../database/identifiers.js';
import { gaveUpWaiting } from '../database/server/lockWaits.js';
import { statement } from '../database/statements.js';
import { HOUSE_CHAIN } from '../runs/runRecordStore.js';
import { type SignedKind, signDecided, unsignedOf } from '../signatures/signaturesStore.js';

/** A text of people as it is stored. */
interface PeoplesText {
  relation: string;
  /** the columns by which its row is known */
  key: Readonly<Record<string, unknown>>;
  field: string;
  /** of a column of JSON or of several texts where in it; null: the column is the text */
  path: string[] | null;
  /** the column is several texts, of which this is one */
  is_list: boolean;
  /** it says who may not decide about what waits */
  waits: boolean;
  text: string;
  /** ids in it that a ledger or gateway gave */
  ids: string[];
  account_id: string | null;
  what: string | null;
  /** null: nothing seals it */
  link_id: bigint | null;
}

/** One that has to go, and what is to stand there. */
export interface Redacted extends PeoplesText {
  cleaned: string;
  /** taken out */
  signs: number;
}

interface RedactionOrder {
  who: Decider;
  /** null: nothing is signed */
  keys: DecisionKeys | null;
  reason: string;
}

/** So long it waits for whoever writes in these tables; everybody else waits for it. */
const LOCK_SECONDS = 10;
const LEDGER = 'refund_requests';

/** Of at least so many signs. */
export async function* peoplesTexts(db: Database, least: number): AsyncGenerator<PeoplesText[]> {
  yield* db.stream<PeoplesText>(statement('retention/peoplesWords'), [least]);
}

/** Empties forms that somebody typed in and did not send, by their texts; answers how many. */
export async function dropDrafts(db: Db, isOne: (text: string) => boolean): Promise<number> {
  const { rows } = await db.query<{ session: Buffer; texts: string[] }>(
    `select session_sha256 as session, array(select t.value
       from jsonb_each_text(draft -> 'typed') t) || coalesce(draft ->> 'problem', '') as texts
     from tieout.sessions where draft is not null`,
  );
  const found = rows.filter(({ texts }) => texts.some(isOne)).map(({ session }) => session);
  await db.query('update tieout.sessions set draft = null where session_sha256 = any ($1)', [
    found,
  ]);
  return found.length;
}

/** Whether requests of refunds lie in a table that we may change, not in a view of the shop. */
export async function ownsRefundRequests(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ is_table: boolean }>(
    `select relkind = 'r' as is_table from pg_class
     where oid = to_regclass('ledger.refund_requests')`,
  );
  return rows[0]?.is_table === true;
}

/** All or nothing. Throws a TieoutError where a link is not what was sealed, or others write. */
export async function redactTexts(
  db: Database,
  texts: readonly Redacted[],
  { who, keys, reason }: RedactionOrder,
): Promise<void> {
  try {
    await db.transaction((tx) => redactIn(tx, texts, { who, keys, reason }));
  } catch (error) {
    if (gaveUpWaiting(error)) {
      throw new TieoutError('a run writes in these tables just now: try again when it has ended');
    }
    throw error;
  }
}

async function redactIn(
  tx: Db,
  texts: readonly Redacted[],
  { who, keys, reason }: RedactionOrder,
): Promise<void> {
  await tx.query("select set_config('lock_timeout', $1, true)", [`${LOCK_SECONDS}s`]);
  const guarded = [...new Set(texts.map(({ relation }) => relation))].filter(
    (one) => one !== LEDGER,
  );
  // What has to go is history, so that its guards stand aside; nobody else writes there meanwhile.
  for (const relation of guarded) {
    await tx.query(named`alter table ${identifier('tieout', relation)} disable trigger user`);
  }
  const links = linksOf(texts);
  for (const link of links) await refuseAltered(tx, link);
  const resign = await genuineOf(tx, texts, keys);
  if (!who.proof && resign.some(({ ids }) => ids.length > 0)) throw new TieoutError(NO_KEY);
  const { rows } = await tx.query<{ redaction_id: bigint }>(
    `insert into tieout.redactions (by, is_claim, reason) values ($1, $2, $3)
     returning redaction_id`,
    [who.name, who.isClaim, reason],
  );
  const id = rows[0]?.redaction_id;
  const seen = await digestedOf(tx, texts);
  for (const text of texts) await redactOne(tx, text, id);
  // The digest of what stood there would tell the words: all of it but them is known.
  await tx.query(
    `update tieout.decisions set seen_sha256 = tieout.seen_sha256(seen)
     where decision_id = any ($1::bigint[])`,
    [seen],
  );
  for (const { what, ids } of resign) await signDecided(tx, who, what, ids);
  for (const link of links) {
    await tx.query(
      `insert into tieout.redacted_links (redaction_id, link_id, account_id, what, facts,
         sealed_sha256, after_sha256)
       select $1, l.link_id, l.account_id, l.what, l.facts, l.facts_sha256, f.facts_sha256
       from tieout.chain_links l
       cross join lateral tieout.link_facts(l.link_id, l.what, l.account_id) f
       where l.link_id = $2 and l.what = $3 and l.account_id = $4`,
      [id, ...link],
    );
  }
  for (const relation of guarded) {
    await tx.query(named`alter table ${identifier('tieout', relation)} enable trigger user`);
  }
  if (id !== undefined) await signDecided(tx, who, 'redaction', [id]);
  await tx.query(`select tieout.seal($1, (clock_timestamp() at time zone 'UTC')::date, false)`, [
    HOUSE_CHAIN,
  ]);
}

/** Decisions of which what was seen is changed, and is what their digest says. */
async function digestedOf(tx: Db, texts: readonly Redacted[]): Promise<string[]> {
  const ids = texts
    .filter(({ relation, field }) => relation === 'decisions' && field === 'seen')
    .map(({ key }) => String(key.decision_id));
  const { rows } = await tx.query<{ decision_id: bigint }>(
    `select decision_id from tieout.decisions
     where decision_id = any ($1::bigint[]) and seen_sha256 = tieout.seen_sha256(seen)`,
    [ids],
  );
  return rows.map(({ decision_id: id }) => String(id));
}

interface Genuine {
  what: SignedKind;
  ids: bigint[];
}

/** What was signed is signed anew as it then stands; what was not is not made genuine by it. */
async function genuineOf(
  tx: Db,
  texts: readonly Redacted[],
  keys: DecisionKeys | null,
): Promise<Genuine[]> {
  const found: Genuine[] = [];
  for (const [what, key] of Object.entries(SIGNED_BY) as [SignedKind, string][]) {
    const ids = texts
      .filter((text) => text.what === what)
      .map((text) => BigInt(String(text.key[key])));
    const unsigned = new Set(
      keys === null ? await unheldOf(tx, what, ids) : await unsignedOf(tx, keys, what, ids),
    );
    found.push({ what, ids: ids.filter((id) => !unsigned.has(id)) });
  }
  return found;
}

/** Those of which nobody ever kept a signature, good or bad. */
async function unheldOf(tx: Db, what: SignedKind, ids: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>(
    `select id from unnest($2::bigint[]) as id
     where not exists (select from tieout.signatures s where s.what = $1 and s.fact_id = id)`,
    [what, ids.map(String)],
  );
  return rows.map(({ id }) => id);
}

const NO_KEY =
  'some of it is signed (decisions.key), and would count for made up: redact where that key is';

/** By which column a fact is known. */
const SIGNED_BY: Partial<Record<SignedKind, string>> = {
  decision: 'decision_id',
  break: 'event_id',
  day: 'event_id',
  brake: 'seq',
};

type LinkOf = readonly [linkId: bigint, what: string, accountId: string];

function linksOf(texts: readonly Redacted[]): LinkOf[] {
  const all = texts.flatMap(({ link_id, what, account_id }): LinkOf[] =>
    link_id === null || what === null || account_id === null ? [] : [[link_id, what, account_id]],
  );
  return [...new Map(all.map((link) => [link.join('\t'), link])).values()];
}

/** A redaction must never make right what somebody else changed. */
async function refuseAltered(tx: Db, link: LinkOf): Promise<void> {
  const { rows } = await tx.query<{ link_no: bigint; is_same: boolean }>(
    `select l.link_no, (f.facts, f.facts_sha256) = (l.facts, tieout.redacted_sha256(l)) as is_same
     from tieout.chain_links l
     cross join lateral tieout.link_facts(l.link_id, l.what, l.account_id) f
     where l.link_id = $1 and l.what = $2 and l.account_id = $3`,
    [...link],
  );
  const [row] = rows;
  if (row?.is_same === true) return;
  throw new TieoutError(
    `link ${row?.link_no ?? '(none)'} of the chain of ${link[2] || 'runs and settings'} is not ` +
      'what was sealed, before anything is taken out: `tieout verify` says more',
  );
}

async function redactOne(tx: Db, text: Redacted, id: bigint | undefined): Promise<void> {
  const { relation, key, cleaned, signs } = text;
  const given = [cleaned, asJson(key), text.text];
  const { rowCount } = await tx.query(
    cleaning(text),
    text.path === null ? given : [...given, text.path],
  );
  if (rowCount !== 1) throw new TieoutError(`${relation} ${asJson(key)} changed meanwhile`);
  await tx.query(
    `insert into tieout.redacted_texts (redaction_id, relation, key, field, signs)
     values ($1, $2, $3::jsonb, $4, $5)`,
    [id, relation, asJson(key), placeOf(text), signs],
  );
}

/** Puts $1 where $3 stands: as the column, or at $4 in its texts or its JSON. */
function cleaning({ relation, field, path, is_list: isList }: Redacted): string {
  const place = identifier(relation === LEDGER ? 'ledger' : 'tieout', relation);
  const column = identifier(field);
  if (isList) {
    return named`update ${place} t set ${column}[($4::text[])[1]::int] = $1
      where to_jsonb(t) @> $2::jsonb and ${column}[($4::text[])[1]::int] = $3`;
  }
  if (path === null) {
    return named`update ${place} t set ${column} = $1
      where to_jsonb(t) @> $2::jsonb and ${column} = $3`;
  }
  return named`update ${place} t
    set ${column} = jsonb_set(${column}, $4::text[], to_jsonb($1::text))
    where to_jsonb(t) @> $2::jsonb and ${column} #>> $4::text[] = $3`;
}

/** The column, and where in it: `seen.refundRequests.0.reason`. */
export function placeOf({ field, path }: Pick<Redacted, 'field' | 'path'>): string {
  return [field, ...(path ?? [])].join('.');
}

function asJson(key: object): string {
  return JSON.stringify(key);
}

/** All that are on record, oldest first. */
export async function redactions(db: Db): Promise<Redaction[]> {
  const { rows } = await db.query<
    Omit<Redaction, 'texts' | 'links'> & Record<'texts' | 'links', bigint>
  >(
    `select r.at, r.by, r.is_claim as "isClaim", r.reason,
       (select count(*) from tieout.redacted_texts where redaction_id = r.redaction_id) as texts,
       (select count(*) from tieout.redacted_links where redaction_id = r.redaction_id) as links
     from tieout.redactions r order by r.redaction_id`,
  );
  return rows.map((row) => ({ ...row, texts: Number(row.texts), links: Number(row.links) }));
}
