// Reports after they were written: which file is which, whether the database still holds what one
// was made from, and which are old enough to be deleted. Neighbours: reportsStore.ts (while they
// are made), report/oldReports.ts and verify/verifyWorkbook.ts.

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Digests by name of what a report of this run is made from. */
export type Digests = Readonly<Record<string, string>>;

/** What the database holds now of a run, as digests. */
export async function runDigests(db: Db, runId: bigint): Promise<Digests> {
  const [{ rows }, breaks] = await Promise.all([
    db.query<Digests>(statement('report/runDigests'), [runId]),
    openBreaksDigest(db, runId),
  ]);
  const row = rows[0];
  if (!row) throw new Error(`there is no run ${runId}`);
  return { ...row, breaks };
}

/**
 * Of the figures as older versions had them in a file that was written after others of the night
 * could not be: what could not be written counted there.
 */
export async function figuresWithUnwritten(db: Db, runId: bigint): Promise<string> {
  const { rows } = await db.query<{ digest: string }>(
    `select encode(sha256(convert_to(coalesce((summary - 'reports')::text, ''), 'UTF8')), 'hex')
       as digest
     from tieout.runs where run_id = $1`,
    [runId],
  );
  return rows[0]?.digest ?? '';
}

/** Of the breaks that were open at the end of the run. */
async function openBreaksDigest(db: Db, runId: bigint): Promise<string> {
  const { rows } = await db.query<{ digest: string }>(
    `select encode(sha256(convert_to(coalesce(string_agg(concat_ws(' ', account_id, order_no, kind,
         currency, stake, expected, actual), E'\\n'
         order by account_id collate "C", order_no collate "C", kind), ''), 'UTF8')), 'hex')
       as digest
     from tieout.open_as_of($1)`,
    [runId],
  );
  return rows[0]?.digest ?? '';
}

/** The newest reconciliation of the run before; null where there is none. */
export async function previousWorkbook(db: Db, runId: bigint): Promise<string | null> {
  const { rows } = await db.query<{ sha256: string }>(
    `select w.sha256
     from tieout.runs r
     join tieout.runs p on p.business_date < r.business_date and not p.is_dry
       and exists (select from tieout.run_accounts e
         join tieout.run_accounts own on own.run_id = r.run_id
           and own.account_id = e.account_id and own.events_after > 0
         where e.run_id = p.run_id and e.events_until is not null)
     join tieout.reports w on w.run_id = p.run_id and w.kind = 'reconciliation'
       and w.state = 'written'
     where r.run_id = $1 order by p.business_date desc, w.revision desc limit 1`,
    [runId],
  );
  return rows[0]?.sha256 ?? null;
}

/** These links as they stand now; one that is gone has no digest. */
export async function linksAt(
  db: Db,
  links: Readonly<Record<string, number>>,
): Promise<{ accountId: string; linkNo: bigint; sha256: string }[]> {
  const { rows } = await db.query<{ accountId: string; linkNo: bigint; sha256: string }>(
    `select e.key as "accountId", e.value::bigint as "linkNo", coalesce(l.sha256, '') as sha256
     from jsonb_each_text($1::jsonb) as e
     left join tieout.chain_links l
       on l.account_id = e.key collate "C" and l.link_no = e.value::bigint`,
    [JSON.stringify(links)],
  );
  return rows;
}

/** Whether a file with this digest is on record. */
export async function hasReport(db: Db, sha256: string): Promise<boolean> {
  const { rows } = await db.query(
    `select from tieout.reports where sha256 = $1 and state = 'written' limit 1`,
    [sha256],
  );
  return rows.length > 0;
}

export interface KnownReport {
  reportId: bigint;
  runId: bigint;
  businessDate: string;
  kind: string;
  period: string | null;
  revision: number;
  newestRevision: number;
  writtenAt: Date;
  digests: Digests;
}

/** The report whose file has this digest; null when tieout never made such a file. */
export async function reportOfFile(db: Db, sha256: string): Promise<KnownReport | null> {
  const { rows } = await db.query<KnownReport & { digests: Digests | null }>(
    `select report_id as "reportId", run_id as "runId", business_date as "businessDate", kind,
       period, revision, written_at as "writtenAt", digests,
       (select max(n.revision) from tieout.reports n
         -- of a month or a day they are counted over all nights
         where case when p.period is null then n.run_id = p.run_id and n.period is null
             else n.period = p.period end
           and n.kind = p.kind and n.format = p.format and n.state = 'written') as "newestRevision"
     from tieout.reports p join tieout.runs r using (run_id)
     where sha256 = $1 and p.state = 'written' order by report_id limit 1`,
    [sha256],
  );
  const row = rows[0];
  return row ? { ...row, digests: row.digests ?? {} } : null;
}

export interface BookOnRecord {
  businessDate: string;
  revision: number;
  writtenAt: Date;
  accounts: string[];
  digests: Digests;
  /** of the same night, and of the newest night after it */
  newer: { file: string; businessDate: string; revision: number }[];
}

/** A written reconciliation workbook; null: there is none of this date and revision. */
export async function bookOnRecord(
  db: Db,
  businessDate: string,
  revision: number,
): Promise<BookOnRecord | null> {
  const values = [businessDate, revision];
  const { rows } = await db.query<BookOnRecord>(statement('report/bookOnRecord'), values);
  return rows[0] ?? null;
}

export interface OldReport {
  reportId: bigint;
  path: string;
  sha256: string;
}

/** Reports written before that, whose file was not deleted yet. */
export async function oldReports(db: Db, before: Date, limit: number): Promise<OldReport[]> {
  const { rows } = await db.query<OldReport>(
    `select report_id as "reportId", path, sha256 from tieout.reports p
     where state = 'written' and written_at < $1
       and not exists (select from tieout.report_removals r where r.report_id = p.report_id)
     order by report_id limit $2`,
    [before, limit],
  );
  return rows;
}

export type Removal = 'deleted' | 'was_gone' | 'not_ours';

/** What of it is in the database for the console goes with its file. */
export async function recordRemoval(
  db: Db,
  reportId: bigint,
  finding: Removal,
  now: Date,
): Promise<void> {
  await db.query(
    `with lines as (delete from tieout.written_lines where report_id = $1),
     books as (delete from tieout.written_book_lines where report_id = $1)
     insert into tieout.report_removals (report_id, removed_at, finding) values ($1, $2, $3)
     on conflict do nothing`,
    [reportId, now, finding],
  );
}
