// The chain checked from its first link to its last: every fact that was sealed is still there and
// still says the same, every link follows the one before it. PostgreSQL digests, so that facts need
// not leave it; memory stays flat. Neighbours: audit/seal.ts seals, checkLinks.sql
// makes the digests anew, cli/reports/verify.ts tells.

import type { Redaction } from '../core/runs/redaction.js';
import type { Removal } from '../core/runs/removal.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import { redactions } from '../retention/redactStore.js';
import { chainHeads, HOUSE_CHAIN, removals } from '../runs/runRecordStore.js';

/** Links checked by one statement. */
const LINKS_AT_ONCE = 50;

export interface BrokenLink {
  accountId: string;
  linkNo: bigint;
  /** the kind of fact it seals; null: the link is not there */
  what: string | null;
  businessDate: string | null;
  reason: string;
}

interface Unsealed {
  accountId: string;
  what: string;
  facts: number;
  /** those of them that bear a link which no chain has: its links were removed */
  strayed: number;
}

interface Disagreement {
  accountId: string;
  orderNo: string | null;
  what: string;
  state: string;
  history: string | null;
}

interface RedactedLink {
  accountId: string;
  linkNo: bigint;
  what: string;
  businessDate: string;
  /** what else it seals is believed as well */
  facts: number;
}

/** So many are named. */
const REDACTED_LINKS_MAX = 100;

export interface ChainFinding {
  chains: number;
  links: number;
  /** the first of each chain; what follows it proves nothing */
  broken: BrokenLink[];
  unsealed: Unsealed[];
  /** looks that retention removed: their links hold, and what they seal is gone */
  removed: Removal[];
  /** words that were taken out on record: their links hold what is left */
  redacted: Redaction[];
  /** these links, the newest first: what they hold is what a record says, not what was sealed */
  redactedLinks: RedactedLink[];
  /** rows whose state is not what their history says */
  disagreements: Disagreement[];
}

/** What is not sealed yet is no reason to doubt: the next run seals it. */
export function isWhole({ broken, disagreements, unsealed }: ChainFinding): boolean {
  return (
    broken.length === 0 &&
    disagreements.length === 0 &&
    unsealed.every(({ strayed }) => strayed === 0)
  );
}

/** Before the first question: what a night seals meanwhile would be in a head without its link. */
export async function atOneMoment(tx: Db): Promise<void> {
  await tx.query('set transaction isolation level repeatable read');
}

export async function checkChain(
  db: Db,
  progress: (done: number, total: number) => void,
): Promise<ChainFinding> {
  const { rows } = await db.query<{ account_id: string; links: bigint }>(
    `select coalesce(h.account_id, l.account_id) as account_id, coalesce(l.links, 0) as links
     from tieout.chain_heads h
     full join (select account_id, count(*) as links from tieout.chain_links group by account_id) l
       on l.account_id = h.account_id
     order by 1`,
  );
  const total = rows.reduce((sum, row) => sum + Number(row.links), 0);
  const broken: BrokenLink[] = [];
  let done = 0;
  for (const { account_id: accountId } of rows) {
    const first = await firstBroken(db, accountId, (checked) => progress(done + checked, total));
    done += Number(rows.find((row) => row.account_id === accountId)?.links ?? 0n);
    if (first) broken.push(first);
  }
  if (total === 0 && (await hasEndedRuns(db))) broken.push(EMPTIED);
  return {
    chains: rows.length,
    links: total,
    broken,
    unsealed: await unsealed(db),
    removed: await removals(db),
    redacted: await redactions(db),
    redactedLinks: await redactedLinks(db),
    disagreements: [
      ...(await disagreeing(db, statement('verify/disagreements'))),
      ...(await disagreeing(db, statement('verify/decided'))),
      ...(await disagreeing(db, statement('verify/derived'))),
    ],
  };
}

async function redactedLinks(db: Db): Promise<RedactedLink[]> {
  const { rows } = await db.query<Omit<RedactedLink, 'facts'> & { facts: bigint }>(
    `select l.account_id as "accountId", l.link_no as "linkNo", l.what,
       l.business_date as "businessDate", l.facts
     from (select distinct link_id, account_id, what from tieout.redacted_links) k
     join tieout.chain_links l using (link_id, account_id, what)
     order by l.link_id desc, l.account_id, l.what limit $1`,
    [REDACTED_LINKS_MAX],
  );
  return rows.map((row) => ({ ...row, facts: Number(row.facts) }));
}

const EMPTIED: BrokenLink = {
  ...{ accountId: HOUSE_CHAIN, linkNo: 1n, what: null, businessDate: null },
  reason: 'there is not one link, and runs have come to their end',
};

/** A run seals before it ends. */
async function hasEndedRuns(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ ended: boolean }>(
    `select exists (select from tieout.runs
       where not is_dry and state in ('tied_out', 'broken', 'incomplete')) as ended`,
  );
  return rows[0]?.ended === true;
}

interface CheckedLink {
  link_no: bigint;
  business_date: string;
  what: string;
  facts: bigint;
  facts_sha256: string;
  previous_sha256: string;
  sha256: string;
  found_facts: bigint;
  found_sha256: string;
  own_sha256: string;
  /** what was sealed, or what is on record as left of it by a redaction */
  expected_sha256: string;
  /** with a record that is sealed itself */
  is_removed: boolean;
  is_still_there: boolean;
}

async function firstBroken(
  db: Db,
  accountId: string,
  progress: (checked: number) => void,
): Promise<BrokenLink | null> {
  let last = { no: 0n, sha256: '' };
  for (;;) {
    const { rows } = await db.query<CheckedLink>(statement('verify/checkLinks'), [
      accountId,
      last.no,
      LINKS_AT_ONCE,
    ]);
    for (const link of rows) {
      const broken = brokenAt(accountId, link, last);
      if (broken) return broken;
      last = { no: link.link_no, sha256: link.sha256 };
    }
    progress(Number(last.no));
    if (rows.length < LINKS_AT_ONCE) break;
  }
  const head = (await chainHeads(db)).find((one) => one.accountId === accountId);
  if (head?.linkNo === last.no && head.sha256 === last.sha256) return null;
  const sealed = head?.linkNo ?? 'none';
  const reason = `the chain ends at link ${last.no}, but was sealed up to ${sealed}`;
  return { accountId, linkNo: last.no + 1n, what: null, businessDate: null, reason };
}

function brokenAt(
  accountId: string,
  link: CheckedLink,
  last: { no: bigint; sha256: string },
): BrokenLink | null {
  if (link.link_no !== last.no + 1n) {
    const reason = `it is not there; the next one that is is ${link.link_no}`;
    return { accountId, linkNo: last.no + 1n, what: null, businessDate: null, reason };
  }
  const reason = whyBroken(link, last.sha256);
  if (reason === null) return null;
  const { link_no: linkNo, what, business_date: businessDate } = link;
  return { accountId, linkNo, what, businessDate, reason };
}

function whyBroken(link: CheckedLink, previous: string): string | null {
  if (link.own_sha256 !== link.sha256) return 'the link itself was changed';
  if (link.previous_sha256 !== previous) return 'it does not follow the link before it';
  if (link.is_still_there) return 'its removal is on record, and its month is still there';
  if (link.is_removed) return null;
  if (link.found_facts !== link.facts) {
    return `${link.facts} were sealed, ${link.found_facts} are there`;
  }
  if (link.found_sha256 !== link.expected_sha256) {
    return `of the ${link.facts} that were sealed, at least one was changed`;
  }
  return null;
}

async function unsealed(db: Db): Promise<Unsealed[]> {
  const { rows } = await db.query<{
    account_id: string;
    what: string;
    facts: bigint;
    strayed: bigint;
  }>(statement('verify/unsealed'));
  return rows.map((row) => ({
    accountId: row.account_id,
    what: row.what,
    facts: Number(row.facts),
    strayed: Number(row.strayed),
  }));
}

async function disagreeing(db: Db, text: string): Promise<Disagreement[]> {
  const { rows } = await db.query<{
    account_id: string;
    order_no: string | null;
    what: string;
    state: string;
    history: string | null;
  }>(text);
  return rows.map(({ account_id: accountId, order_no: orderNo, ...row }) => ({
    accountId,
    orderNo,
    ...row,
  }));
}
