// Whether a workbook on a disk is the file that was made, and whether the database still holds what
// it was made from. Nothing is believed of the file itself: its digest is looked up in the record,
// and the figures are worked out again from the tables.

import { type Removal, removedLine } from '../core/runs/removal.js';
import type { ReportDeps } from '../report/aboutReport.js';
import type { Digests, KnownReport } from '../report/keptReportsStore.js';
import { reportOfFile } from '../report/keptReportsStore.js';
import { manifestNow, withoutSnapshots } from '../report/manifest.js';
import { fileDigest } from '../report/oldReports.js';
import { removalOf } from '../retention/retentionStore.js';

export type WorkbookFinding =
  | { kind: 'not_ours'; sha256: string }
  | {
      kind: 'as_made';
      sha256: string;
      report: KnownReport;
      /** what its rows were made from is gone: only the rest could be compared */
      removal?: Removal;
    }
  | {
      kind: 'changed_since';
      sha256: string;
      report: KnownReport;
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
  if (differences.length === 0) {
    return { kind: 'as_made', sha256, report, ...(removal === null ? {} : { removal }) };
  }
  return { kind: 'changed_since', sha256, report, differences };
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
  if (newestRevision > revision) lines.push(`A newer revision was made: ${newestRevision}.`);
  if (finding.kind === 'as_made') {
    lines.push('Its figures are still those of the database.');
    if (finding.removal)
      lines.push(`${removedLine(finding.removal)}: rows of orders went with it.`);
  } else {
    const names = finding.differences.map(({ name }) => name).join(', ');
    lines.push(`The database holds otherwise now: ${names}.`);
  }
  return lines;
}
