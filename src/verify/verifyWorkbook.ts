// Whether a workbook on a disk is the file that was made, and whether the database still holds what
// it was made from. Nothing is believed of the file itself: its digest is looked up in the record,
// and the figures are worked out again from the tables.

import { type Removal, removedLine } from '../core/runs/removal.js';
import { changeText, type OtherPage } from '../core/runs/sinceClosed.js';
import { countText } from '../core/text/amounts.js';
import type { Db } from '../database/db.js';
import { pagesOtherwise } from '../days/signedFiguresStore.js';
import type { ReportDeps } from '../report/aboutReport.js';
import type { Digests, KnownReport } from '../report/keptReportsStore.js';
import { reportOfFile } from '../report/keptReportsStore.js';
import { manifestNow, withoutSnapshots } from '../report/manifest.js';
import { fileDigest } from '../report/oldReports.js';
import { removalOf } from '../runs/runRecordStore.js';

/** Of a reconciliation that has a newer revision. */
interface Newest {
  /** what its statement says otherwise than that of this one; null: not on record */
  pages: OtherPage[] | null;
}

export type WorkbookFinding =
  | { kind: 'not_ours'; sha256: string }
  | {
      kind: 'as_made';
      sha256: string;
      report: KnownReport;
      newest?: Newest;
      /** what its rows were made from is gone: only the rest could be compared */
      removal?: Removal;
    }
  | {
      kind: 'changed_since';
      sha256: string;
      report: KnownReport;
      newest?: Newest;
      /** What the database holds otherwise now, by name. */
      differences: Difference[];
    };

export interface Difference {
  name: string;
  made: string;
  held: string;
}

export async function verifyWorkbook(
  deps: Pick<ReportDeps, 'db'>,
  path: string,
): Promise<WorkbookFinding> {
  const sha256 = await fileDigest(path);
  const report = await reportOfFile(deps.db, sha256);
  if (report === null) return { kind: 'not_ours', sha256 };
  const removal = await removalOf(deps.db, report.runId);
  const digests = removal === null ? report.digests : withoutSnapshots(report.digests);
  const differences = differing(digests, await manifestNow(deps.db, { ...report, digests }));
  const newest = await newestOf(deps.db, report);
  if (differences.length === 0) {
    const removed = removal === null ? {} : { removal };
    return { kind: 'as_made', sha256, report, ...newest, ...removed };
  }
  return { kind: 'changed_since', sha256, report, ...newest, differences };
}

async function newestOf(db: Db, report: KnownReport): Promise<{ newest?: Newest }> {
  const { kind, period, businessDate, revision, newestRevision } = report;
  if (kind !== 'reconciliation' || period !== null || newestRevision <= revision) return {};
  return { newest: { pages: await pagesOtherwise(db, businessDate, revision, newestRevision) } };
}

function differing(made: Digests, held: Digests): Difference[] {
  return Object.entries(made).flatMap(([name, digest]) => {
    const now = held[name] ?? '(none)';
    return now === digest ? [] : [{ name, made: digest, held: now }];
  });
}

/** The finding in lines for a person. */
export function workbookLines(path: string, finding: WorkbookFinding): string[] {
  if (finding.kind === 'not_ours') {
    return [`${path} is no file that tieout made, or was changed or saved again since.`];
  }
  const { kind, period, businessDate, revision, newestRevision, writtenAt } = finding.report;
  const lines = [
    `${path} is the ${kind} report of ${period ?? businessDate}, revision ${revision}, ` +
      `written ${writtenAt.toISOString()}: not one byte was changed.`,
  ];
  if (newestRevision > revision) lines.push(...newestLines(newestRevision, finding.newest));
  if (finding.kind === 'as_made') {
    lines.push(comparedLine(finding.report.digests, finding.removal));
    if (finding.removal)
      lines.push(`${removedLine(finding.removal)}: rows of orders went with it.`);
  } else {
    const names = finding.differences.map(({ name }) => name).join(', ');
    lines.push(`The database holds otherwise now: ${names}.`);
  }
  return lines;
}

/** What was compared: the record of the night, which a newer revision shares. */
function comparedLine(digests: Digests, removal: Removal | undefined): string {
  const names = Object.keys(removal === undefined ? digests : withoutSnapshots(digests));
  return names.length === 0
    ? 'What it was made from is not on record: it could not be compared.'
    : `What its night recorded stands unchanged in the database (${names.join(', ')}).`;
}

/** Figures that are named; `--json` has all of them. */
const CHANGES_MAX = 20;

function newestLines(revision: number, newest: Newest | undefined): string[] {
  const made = `A newer revision was made: ${revision}.`;
  if (newest === undefined) return [made];
  const { pages } = newest;
  if (pages === null) {
    return [`${made} Whether its statement has the same figures is not on record.`];
  }
  if (pages.length === 0) return [`${made} Its statement has the same figures.`];
  const changes = pages.flatMap(({ accountId, currency, changes: all }) =>
    all.map((change) => `  ${accountId}, ${changeText(change, currency)}`),
  );
  const more = changes.length - CHANGES_MAX;
  return [
    `${made} Its statement has other figures than this file:`,
    ...changes.slice(0, CHANGES_MAX),
    ...(more > 0 ? [`  and ${countText(more)} more: --json has all of them`] : []),
  ];
}
