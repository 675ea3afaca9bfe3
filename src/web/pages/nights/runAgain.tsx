// Another look at the newest night, asked for on the console: what `tieout run` does, by a clock
// that finds the wish in the run's row. Nothing is sent twice, whatever is asked.

import type { ConsoleRun } from '../../../report/consoleRunsStore.js';
import { askAgain, askedAgain, findRun, newestRun } from '../../../runs/runsStore.js';
import { Form } from '../../layout/parts.js';
import { Ask } from '../../layout/said.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';

/** Nothing for who may not, for an older night, and while somebody works on it. */
export async function runAgainOf(visit: Visit, night: ConsoleRun) {
  const { deps, words } = visit;
  if (!visit.hasEverywhere('jobs')) return null;
  const newest = await newestRun(deps.db);
  if (newest === null || newest.runId !== night.runId || newest.state === 'running') return null;
  const asked = await askedAgain(deps.db, newest.runId);
  if (asked !== null) {
    return (
      <p class="hint" role="status">
        {asked.by} asked at {words.at(asked.at)} for another look: it begins as soon as the clock of
        tieout sees it. If it does not: <Ask command="tieout start" />
      </p>
    );
  }
  return (
    <Form action="/nights/again" csrf={visit.csrf}>
      <input type="hidden" name="date" value={night.businessDate} />
      <button type="submit">Run again</button>{' '}
      <span class="hint">
        looks at the gateway once more and writes the next revision; nothing is sent twice
      </span>
    </Form>
  );
}

export async function runAgain(visit: Visit): Promise<Answer> {
  const { deps, form, person } = visit;
  const date = dateOf(form.text('date') ?? undefined);
  const run = date === null ? null : await findRun(deps.db, date);
  if (run === null) return refused('There is no such night.');
  const isAsked = await askAgain(deps.db, run.runId, person.name, deps.now());
  await visit.record({
    action: 'run again',
    subject: run.businessDate,
    outcome: isAsked ? 'asked' : 'refused',
  });
  if (!isAsked) return refused('Only the newest night is run again, and not while it works.');
  return { kind: 'redirect', to: `/nights/${run.businessDate}` };
}
