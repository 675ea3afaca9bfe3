// Reports: every run with its files, their digests and who took them; two clicks from the first
// page to the workbook. A file is found by the number of its row, never by a path.

import { basename } from 'node:path';
import { andMore } from '../../core/text/amounts.js';
import type { ListedReport } from '../../report/reportPagesStore.js';
import { findReport, listReports } from '../../report/reportPagesStore.js';
import { removedRuns } from '../../runs/runRecordStore.js';
import { sizeText } from '../format.js';
import { Empty, Figure, State, Table } from '../layout/parts.js';
import type { Answer, Visit } from '../visit.js';
import { NOT_FOUND } from '../visit.js';
import { rowIdOf } from '../visitor/fields.js';
import { DecisionsForm } from './decisions.js';
import { PeriodForm, Rewrite } from './reportRequests.js';

const RUNS_A_PAGE = 30;
const PAGES_MAX = 20_000;
const TYPES: Readonly<Record<string, string>> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

export async function reportsPage(visit: Visit): Promise<Answer> {
  const { deps, query } = visit;
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  // One run more than a page tells whether there is an older one.
  const page = { nights: RUNS_A_PAGE + 1, offset: at * RUNS_A_PAGE };
  const taker = {
    accounts: visit.accountsFor('download'),
    seesAll: visit.hasEverywhere('download'),
  };
  const found = await listReports(deps.db, visit, taker, page);
  const dates = [...new Set(found.map(({ businessDate }) => businessDate))];
  const older = dates[RUNS_A_PAGE];
  const rows = found.filter(({ businessDate }) => businessDate !== older);
  const removed = await removedRuns(
    deps.db,
    rows.map(({ runId }) => runId),
  );
  const body = (
    <>
      <h1>Reports</h1>
      {rows.length === 0 ? (
        <Empty>
          There is no report here. A night writes its workbooks when it ends. A workbook holds every
          account of its night, so it is shown to those who may see all of them; a report of a month
          or day to those whose role is for all accounts.
        </Empty>
      ) : (
        <ReportTable rows={rows} removed={removed} visit={visit} />
      )}
      <PeriodForm visit={visit} />
      <DecisionsForm visit={visit} />
      <nav class="pager" aria-label="Pages">
        {at > 0 ? <a href={`/reports?page=${at}`}>Newer nights</a> : null}
        {older !== undefined ? <a href={`/reports?page=${at + 2}`}>Older nights</a> : null}
      </nav>
    </>
  );
  return { kind: 'page', title: 'Reports', section: 'Reports', body };
}

interface Listed {
  rows: readonly ListedReport[];
  /** runs whose looks are gone: of those nothing is written again */
  removed: ReadonlySet<bigint>;
  visit: Visit;
}

function ReportTable({ rows, removed, visit }: Listed) {
  const { words } = visit;
  const mayMake = visit.hasEverywhere('download');
  const isKept = ({ period, runId }: ListedReport) => period !== null || !removed.has(runId);
  return (
    <Table
      caption="Reports, newest night first"
      class="cards tight"
      columns={[
        { head: 'Night' },
        { head: 'State' },
        { head: 'File' },
        { head: 'Revision', isFigure: true },
        { head: 'Size', isFigure: true },
        { head: 'Written' },
        { head: 'SHA-256' },
        { head: 'Taken by' },
        { head: 'Once more' },
      ]}
    >
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <a href={`/nights/${row.businessDate}`}>{row.businessDate}</a>
          </th>
          <td>
            <State state={row.runState} />
          </td>
          <td>
            <ReportLink row={row} />
          </td>
          <Figure name="Revision">{row.revision}</Figure>
          <Figure>{sizeText(row.bytes)}</Figure>
          <td class="when" data-name="Written">
            {words.at(row.writtenAt)}
          </td>
          <td class="digest" data-name="SHA-256">
            <code title={row.sha256}>{row.sha256.slice(0, 12)}</code>
          </td>
          <td data-name={row.taken.length === 0 ? undefined : 'Taken by'}>
            {row.taken.map(({ who, at }) => `${who} ${words.at(at)}`).join(', ')}
            {andMore(row.timesTaken - row.taken.length)}
          </td>
          <td class="buttons">
            {mayMake && row.isNewest && isKept(row) ? (
              <Rewrite
                id={row.reportId}
                what={row.period === null ? `${row.kind} of ${row.businessDate}` : nameOf(row)}
                visit={visit}
              />
            ) : null}
            {isKept(row) ? null : <span class="quiet">stays as made</span>}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function ReportLink({ row }: { row: ListedReport }) {
  const name = `${nameOf(row)} (${row.format})`;
  return row.mayTake ? (
    <a href={`/reports/${row.reportId}/file`} download>
      {name}
    </a>
  ) : (
    <span>{name}</span>
  );
}

/** What it is, with the month or day that it is of where it was asked for. */
function nameOf({ kind, period }: ListedReport): string {
  return period === null ? kind : `${kind} of ${period}`;
}

export async function reportFile(visit: Visit): Promise<Answer> {
  const id = rowIdOf(visit.params.id);
  const found = id === null ? null : await findReport(visit.deps.db, visit, id);
  if (found === null) return NOT_FOUND;
  return {
    kind: 'file',
    path: found.path,
    host: found.host,
    name: basename(found.path).replaceAll(/[^\w.-]/g, '_'),
    type: TYPES[found.format] ?? 'application/octet-stream',
    bytes: found.bytes,
    taken: () =>
      visit.record({
        action: 'download',
        subject: `report ${found.reportId}`,
        outcome: `${found.kind} ${found.period ?? found.businessDate} revision ${found.revision}`,
      }),
  };
}
