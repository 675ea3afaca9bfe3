// Reports as the console lists and hands them out: every run, each file with its digest and who
// took it. A report of a run holds all accounts of that run, so that it is shown only to those
// who may see all of them; the statement holds that, not the page. Read only.

import type { Db } from '../database/db.js';

export interface ListedReport {
  reportId: bigint;
  businessDate: string;
  runState: string;
  kind: string;
  format: string;
  revision: number;
  sha256: string;
  bytes: bigint;
  writtenAt: Date;
  path: string;
  /** Who took it, newest first, and when. */
  taken: { who: string; at: string }[];
}

const VISIBLE = `p.state = 'written' and not exists (select 1 from tieout.run_accounts ra
    where ra.run_id = r.run_id and not ra.account_id = any ($1))`;

const LIST = `p.report_id, r.business_date, r.state as run_state, p.kind, p.format, p.revision,
  p.sha256, p.bytes, p.written_at, p.path,
  coalesce((select jsonb_agg(jsonb_build_object('who', e.who, 'at', e.at)
      order by e.event_id desc)
    from (select * from tieout.console_events e where e.action = 'download'
      and e.subject = 'report ' || p.report_id
      order by e.event_id desc limit 5) e), '[]') as taken`;

/** The reports of the runs from `before` on backwards, newest run first. */
export async function listReports(
  db: Db,
  accountIds: readonly string[],
  page: { nights: number; offset: number },
): Promise<ListedReport[]> {
  const { rows } = await db.query<RawReport>(
    `select ${LIST} from (select run_id, business_date, state from tieout.runs r
       where not is_dry and exists (select 1 from tieout.reports p
         where p.run_id = r.run_id and ${VISIBLE})
       order by business_date desc limit $2 offset $3) r
     join tieout.reports p using (run_id)
     where p.state = 'written'
     order by r.business_date desc, p.kind desc, p.format, p.revision desc`,
    [accountIds, page.nights, page.offset],
  );
  return rows.map(toReport);
}

export async function findReport(
  db: Db,
  accountIds: readonly string[],
  reportId: bigint,
): Promise<ListedReport | null> {
  const { rows } = await db.query<RawReport>(
    `select ${LIST} from tieout.reports p join tieout.runs r using (run_id)
     where ${VISIBLE} and p.report_id = $2`,
    [accountIds, reportId],
  );
  return rows[0] ? toReport(rows[0]) : null;
}

interface RawReport {
  report_id: bigint;
  business_date: string;
  run_state: string;
  kind: string;
  format: string;
  revision: number;
  sha256: string;
  bytes: bigint;
  written_at: Date;
  path: string;
  taken: { who: string; at: string }[];
}

function toReport(row: RawReport): ListedReport {
  return {
    reportId: row.report_id,
    businessDate: row.business_date,
    runState: row.run_state,
    kind: row.kind,
    format: row.format,
    revision: row.revision,
    sha256: row.sha256,
    bytes: row.bytes,
    writtenAt: row.written_at,
    path: row.path,
    taken: row.taken,
  };
}
