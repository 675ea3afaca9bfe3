// Reports that are asked for on the console: of a month or a day, or one that was written, once
// more. A worker writes them, as the next revision; nothing that was written is written over.

import type { Period } from '../../core/period.js';
import { periodOf } from '../../core/period.js';
import { staysLine } from '../../core/runs/removal.js';
import { newestRunOf } from '../../report/periodRowsStore.js';
import { findReport } from '../../report/reportPagesStore.js';
import { loadReport, queueReports } from '../../report/reportsStore.js';
import { removalOf } from '../../runs/runRecordStore.js';
import { Form } from '../layout/parts.js';
import type { Answer, Visit } from '../visit.js';
import { refused } from '../visit.js';
import { rowIdOf } from '../visitor/fields.js';

const KINDS = ['activity', 'ageing'] as const;

export function PeriodForm({ visit }: { visit: Visit }) {
  const { deps } = visit;
  if (!visit.hasEverywhere('download')) return null;
  const proposed = deps.now().toISOString().slice(0, 'YYYY-MM'.length);
  return (
    <Form action="/reports/make" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Make a report of a month or a day</legend>
        <label>
          Report
          <select name="kind">
            <option value="activity">activity</option>
            <option value="ageing" selected={visit.typed('kind') === 'ageing'}>
              ageing of open breaks
            </option>
          </select>
        </label>
        <label>
          Month (2026-11) or day (2026-11-30)
          <input name="period" value={visit.typed('period') || proposed} required maxLength={10} />
        </label>
        <button type="submit">Make it</button>
      </fieldset>
    </Form>
  );
}

/** Of one that was written: once more, as its next revision. */
export function Rewrite({ id, what, visit }: { id: bigint; what: string; visit: Visit }) {
  return (
    <Form action="/reports/rewrite" csrf={visit.csrf}>
      <input type="hidden" name="id" value={String(id)} />
      <button type="submit">
        Write again<span class="unseen"> {what}</span>
      </button>
    </Form>
  );
}

export async function makePeriodReport(visit: Visit): Promise<Answer> {
  const { form } = visit;
  const kind = form.oneOf('kind', KINDS);
  const period = periodOf(form.text('period') ?? '');
  if (kind === null || period === null) {
    return refused('Choose a report, and give a month (2026-11) or a day (2026-11-30).');
  }
  return queueOfPeriod(visit, kind, period);
}

/** Ages and what is overdue are those of the newest night of the period, whenever it is made. */
async function queueOfPeriod(visit: Visit, kind: string, period: Period): Promise<Answer> {
  const run = await newestRunOf(visit.deps.db, period);
  if (run === null) return refused(`There is no finished run in ${period.name}.`);
  return queue(visit, { runId: run.runId, kind, period: period.name });
}

export async function rewriteReport(visit: Visit): Promise<Answer> {
  const { deps, form } = visit;
  const id = rowIdOf(form.text('id') ?? undefined);
  const seen = id === null ? null : await findReport(deps.db, visit, id);
  const found = seen === null || id === null ? null : await loadReport(deps.db, id);
  if (found === null || seen === null) return refused('There is no such report.');
  const period = periodOf(found.period ?? '');
  if (period !== null) return queueOfPeriod(visit, found.kind, period);
  if (seen.runState === 'running') return refused('Its night is still being worked on.');
  const removal = await removalOf(deps.db, found.runId);
  if (removal !== null) return refused(`${staysLine(removal)}.`);
  return queue(visit, found);
}

async function queue(
  visit: Visit,
  { runId, kind, period }: { runId: bigint; kind: string; period: string | null },
): Promise<Answer> {
  const { deps } = visit;
  const ids = await queueReports(deps.db, runId, [kind], deps.now(), period);
  await deps.queuePort.enqueue('report', ids.map(String));
  const subject = period === null ? `${kind} of run ${runId}` : `${kind} ${period}`;
  await visit.record({ action: 'make report', subject, outcome: 'queued' });
  const body = (
    <>
      <h1>The report is being written</h1>
      <p class="sentence" role="status">
        A worker writes it; it stands under Reports in a moment, beside the ones before it.
      </p>
      <p>
        <a href="/reports">To the reports</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'Being written', section: 'Reports', body };
}
