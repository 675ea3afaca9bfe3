// What people did in the console: sign-ins, downloads, retries, decisions; newest first, as it was
// recorded and cannot be edited.

import { listEvents } from '../../access/sessionsStore.js';
import { Empty, Pager, Table } from '../layout/parts.js';
import type { Answer, Visit } from '../visit.js';

const ROWS_A_PAGE = 100;
const PAGES_MAX = 20_000;

export async function activityPage(visit: Visit): Promise<Answer> {
  const at = Math.max(0, (visit.query.whole('page', PAGES_MAX) ?? 1) - 1);
  const text = visit.query.text('text', 128);
  // One more than a page tells whether there is a next one.
  const found = await listEvents(visit.deps.db, text, ROWS_A_PAGE + 1, at * ROWS_A_PAGE);
  const rows = found.slice(0, ROWS_A_PAGE);
  const next = (page: number): string =>
    `/activity?${new URLSearchParams({ text: text ?? '', page: String(page + 1) })}`;
  const body = (
    <>
      <h1>Activity</h1>
      <form class="filters" action="/activity" method="get" aria-label="Filter">
        <label>
          Person, action or subject
          <input name="text" value={text ?? ''} maxLength={128} />
        </label>
        <button type="submit">Show</button>
      </form>
      {rows.length === 0 ? (
        <Empty>Nothing fits. Without a filter, everything that was done here is listed.</Empty>
      ) : (
        <Table
          caption="What was done in the console, newest first"
          columns={[
            { head: 'When' },
            { head: 'Who' },
            { head: 'What' },
            { head: 'About' },
            { head: 'Outcome' },
            { head: 'From' },
          ]}
        >
          {rows.map((row) => (
            <tr>
              <th scope="row">{visit.words.at(row.at)}</th>
              <td>{row.who}</td>
              <td>{row.action}</td>
              <td>
                <span class="long">{row.subject}</span>
              </td>
              <td>{visit.words.free(row.outcome, [row.subject])}</td>
              <td>{row.address}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager at={at} hasNext={found.length > ROWS_A_PAGE} to={next} />
    </>
  );
  return { kind: 'page', title: 'Activity', section: 'Activity', body };
}
