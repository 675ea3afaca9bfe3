// The settlement report on the console: asked for here, written by a worker, and handed out once it
// is written. A report holds all accounts, so it is for those who may take reports of all of them.

import { periodOf } from '../../../core/period.js';
import { newestRunOf } from '../../../report/periodRowsStore.js';
import { settlementReports } from '../../../report/reportPagesStore.js';
import { queueReports } from '../../../report/reportsStore.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import { Form } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';

const SHOWN_MAX = 6;

/** The newest of them, and a form for another one. */
export async function reportSection(visit: Visit) {
  const { deps, words } = visit;
  if (!visit.hasEverywhere('download')) return null;
  const reports = await settlementReports(deps.db, SHOWN_MAX);
  const proposed = deps.now().toISOString().slice(0, 'YYYY-MM'.length);
  return (
    <>
      <h2 id="reports">Settlement report</h2>
      <ul>
        {reports.map(({ reportId, period, revision, writtenAt }) => (
          <li>
            {writtenAt === null ? (
              `${period}, revision ${revision}: being written; load this page again`
            ) : (
              <a href={`/reports/${reportId}/file`} download>
                {period}, revision {revision}, written {words.at(writtenAt)} (xlsx)
              </a>
            )}
          </li>
        ))}
      </ul>
      <Form action="/settlement/report" csrf={visit.csrf}>
        <fieldset class="decide">
          <legend>Make the settlement report</legend>
          <label>
            Month (2026-11), or all up to a date (2026-11-30)
            <input
              type="text"
              name="period"
              value={visit.typed('period') || proposed}
              required
              maxlength={10}
            />
          </label>
          <button type="submit">Make it</button>
        </fieldset>
      </Form>
    </>
  );
}

export async function makeReport(visit: Visit, { times }: SettlementRules): Promise<Answer> {
  const { deps, form } = visit;
  const period = periodOf(form.text('period') ?? '');
  if (period === null) return refused('Give a month (2026-11) or a date (2026-11-30).');
  if (period.to < times.from)
    return refused(`That is before the books begin, ${times.from} (settlement.from).`);
  const run = await newestRunOf(deps.db, period);
  if (run === null) return refused(`There is no finished run in ${period.name}.`);
  const ids = await queueReports(deps.db, run.runId, ['settlement'], deps.now(), period.name);
  await deps.queuePort.enqueue('report', ids.map(String));
  await visit.record({
    action: 'make report',
    subject: `settlement ${period.name}`,
    outcome: 'queued',
  });
  return { kind: 'redirect', to: '/settlement#reports' };
}
