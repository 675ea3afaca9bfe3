// What people decided, over all kinds of decisions, and how the chain of digests stands: for the
// page of an auditor. Nothing is written here. Neighbours: verifyChainStore.ts checks the chain.

import { labelsOf } from '../breaks/breakDecisionsStore.js';
import { endsAsking, eventWords } from '../core/breaks/outcome.js';
import { BREAK_KINDS } from '../core/orders/verdict.js';
import { labelOf } from '../core/text/labels.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

export interface TrailRow {
  at: Date;
  /** empty: of no single account */
  accountId: string;
  who: string;
  /** a name from a command line, which nobody checked */
  isClaim: boolean;
  /** in words */
  what: string;
  kind: 'instruction' | 'break' | 'day' | 'brake';
  /** of the instruction or break; the date of a day */
  id: string;
  /** the order number, or what else it is about */
  about: string;
  why: string;
  isSealed: boolean;
}

const SENDING_WORDS: Readonly<Record<string, string>> = {
  'brake on': 'stop sending',
  'brake off': 'resume sending',
  'freeze on': 'freeze sending',
  'freeze off': 'lift the freeze',
  'breaker off': 'resume sending before the end of the run',
};

/** What codes are shown as: of an event all that it may be. */
const WORDS: Readonly<Record<string, string>> = {
  ...eventWords(),
  ...Object.fromEntries(BREAK_KINDS.map((kind) => [kind, labelOf(kind)])),
  ...SENDING_WORDS,
};

export async function auditTrail(
  db: Db,
  text: string | null,
  limit: number,
  offset: number,
): Promise<TrailRow[]> {
  const { rows } = await db.query<TrailRow & { eventId: string | null; breakKind: string | null }>(
    statement('audit/auditTrail'),
    [text, limit, offset, JSON.stringify(WORDS)],
  );
  const asked = rows.filter((row) => row.breakKind !== null && endsAsking(row.what));
  const labels = await labelsOf(
    db,
    asked.map(({ id }) => id),
  );
  return rows.map(({ eventId, breakKind, ...row }) => {
    const what = labels.get(eventId ?? '') ?? SENDING_WORDS[row.what] ?? labelOf(row.what);
    return { ...row, what: breakKind === null ? what : `${what}: ${labelOf(breakKind)}` };
  });
}

export interface ChainEnd {
  /** empty: the chain of runs and settings */
  accountId: string;
  links: bigint;
  sha256: string;
  businessDate: string | null;
  sealedAt: Date | null;
}

/** Where each chain ends. */
export async function chainEnds(db: Db): Promise<ChainEnd[]> {
  const { rows } = await db.query<ChainEnd>(
    `select h.account_id as "accountId", h.link_no as links, h.sha256,
       l.business_date as "businessDate", l.sealed_at as "sealedAt"
     from tieout.chain_heads h
     left join tieout.chain_links l on l.account_id = h.account_id and l.link_no = h.link_no
     order by h.account_id`,
  );
  return rows;
}
