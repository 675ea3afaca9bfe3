// Decisions back by Excel, by way of the browser: a workbook is brought, the page says row by row
// what would be done and what refused, and only a second press does it, with exactly the bytes that
// were looked at. Who decides is who is signed in. The rules are those of `tieout decide`.

import { readFile } from 'node:fs/promises';
import { listUsers } from '../../access/usersStore.js';
import { messageOf, UsageError } from '../../core/errors.js';
import { countText, sumText } from '../../core/text/amounts.js';
import { decidedTotals, resultWords } from '../../decide/decidedTotals.js';
import type { DecidedRow } from '../../decide/decideWorkbook.js';
import { decideWorkbook } from '../../decide/decideWorkbook.js';
import type { WhichWorkbook } from '../../decide/whichWorkbook.js';
import { whichWorkbook, workbookSentences } from '../../decide/whichWorkbook.js';
import type { Words } from '../format.js';
import { sizeText } from '../format.js';
import { Figure, Form, MoneyOf, OrderLink, Table } from '../layout/parts.js';
import type { KeptFile } from '../upload/keptFiles.js';
import { findKept, keepFile, removeKept, takeKept } from '../upload/keptFiles.js';
import { FILE_BYTES_MAX } from '../upload/uploadForm.js';
import type { Answer, Visit } from '../visit.js';
import { NOT_FOUND, refused } from '../visit.js';

const GONE =
  'This workbook is kept no more, or was taken already: it waits for an hour, and only until you ' +
  'choose another file. Choose it again on the page Reports.';

/** Only for whoever may decide anything. */
export function DecisionsForm({ visit }: { visit: Visit }) {
  if (visit.accountsFor('bringDecisions').length === 0) return null;
  return (
    <Form action="/reports/decisions/check" csrf={visit.csrf} isUpload>
      <fieldset class="decide">
        <legend>Decisions back from a workbook</legend>
        <label>
          Reconciliation workbook (.xlsx, at most {sizeText(BigInt(FILE_BYTES_MAX))})
          <input type="file" name="upload" accept=".xlsx" required />
        </label>
        <button type="submit">Look at its decisions; nothing is done yet</button>
      </fieldset>
      <p class="hint">
        On the sheets Breaks and Waiting for you, fill the columns Decision, Reason and To whom.
      </p>
    </Form>
  );
}

/** Keeps the file and leads to what would be done, which can be looked at again. */
export async function checkDecisions(visit: Visit): Promise<Answer> {
  const { file } = visit;
  if (file === null) return refused('Choose a workbook that is not empty.');
  if (!/\.xlsx$/i.test(file.name)) return refused('The name of the workbook must end in .xlsx.');
  const kept = await keepFile(ownerOf(visit), file);
  if (kept.kind === 'refused') return refused(kept.words, kept.status);
  return { kind: 'redirect', to: `/reports/decisions/check?sha256=${kept.sha256}` };
}

export async function decisionsPage(visit: Visit): Promise<Answer> {
  const sha256 = digestOf(visit.query.text('sha256', DIGEST_CHARS));
  if (sha256 === null) return NOT_FOUND;
  const kept = await findKept(ownerOf(visit), sha256);
  if (kept === null) return refused(GONE, 409);
  return told(async () => {
    const { rows, book } = await decide(visit, kept, true);
    const isFresh = visit.person.isFresh ? 'Do it, as' : 'Password, to do it as';
    const body = (
      <>
        <h1>Decisions in {kept.name}</h1>
        <p class="sentence">{sentenceOf(rows, 'would be done')} Nothing was changed yet.</p>
        <Which book={book} words={visit.words} />
        <Totals rows={rows} words={visit.words} />
        <Rows rows={rows} done="would be done" words={visit.words} />
        {rows.some(({ result }) => result === 'done') ? (
          <Form action="/reports/decisions/do" csrf={visit.csrf}>
            <input type="hidden" name="sha256" value={kept.sha256} />
            <p class="buttons">
              <button type="submit" class="main">
                {isFresh} {visit.person.name}
              </button>
            </p>
          </Form>
        ) : null}
        <Back />
      </>
    );
    return { kind: 'page', title: 'Decisions in a workbook', section: 'Reports', body };
  });
}

export async function doDecisions(visit: Visit): Promise<Answer> {
  const sha256 = digestOf(visit.form.text('sha256', DIGEST_CHARS));
  if (sha256 === null)
    return refused('Choose a workbook on the page Reports, and look at it first.');
  const kept = await takeKept(ownerOf(visit), sha256);
  if (kept === null) return refused(GONE, 409);
  return told(async () => {
    try {
      const { rows, book } = await decide(visit, kept, false);
      await visit.record({
        action: 'decide by workbook',
        subject: `${kept.name} ${kept.sha256}`,
        outcome: outcomeOf(rows),
      });
      const body = (
        <>
          <h1>What was done</h1>
          <p class="sentence" role="status">
            {sentenceOf(rows, 'done')}
          </p>
          <Which book={book} words={visit.words} />
          <Totals rows={rows} words={visit.words} />
          <Rows rows={rows} done="done" words={visit.words} />
          <Back />
        </>
      );
      return { kind: 'page', title: 'What was done', section: 'Reports', body };
    } finally {
      await removeKept(kept);
    }
  });
}

interface Decided {
  rows: DecidedRow[];
  book: WhichWorkbook;
}

async function decide(visit: Visit, { path }: KeptFile, check: boolean): Promise<Decided> {
  const { deps, decider: who } = visit;
  const may = {
    workBreaks: visit.accountsFor('workBreaks'),
    waive: visit.accountsFor('waive'),
    agreeToWaiver: visit.accountsFor('agreeToWaiver'),
    approve: visit.accountsFor('approve'),
  };
  const people = (await listUsers(deps.db)).map(({ name }) => name);
  const bytes = await readFile(path);
  const rows = await decideWorkbook(deps, bytes, { who, may, check, people });
  return { rows, book: await whichWorkbook(deps.db, bytes, visit.accounts) };
}

/** "2 of 3; waive, breaks: 1 (5.00 EUR); note, breaks: 1 (7.00 EUR)" */
function outcomeOf(rows: readonly DecidedRow[]): string {
  const done = rows.filter(({ result }) => result === 'done').length;
  const totals = decidedTotals(rows).map(({ what, rows: count, ...sum }) => {
    return `${what}: ${countText(count)} (${sumText(sum)})`;
  });
  return [`${countText(done)} of ${countText(rows.length)}`, ...totals].join('; ');
}

/** A file that is no workbook of ours is told. */
async function told(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refused(`Nothing was changed: ${messageOf(error)}.`);
  }
}

/** Of which night it is, and that a newer one is there. */
function Which({ book, words }: { book: WhichWorkbook; words: Words }) {
  const [own, ...newer] = workbookSentences(book, words.at);
  return (
    <>
      <p class={book === null ? 'problem' : undefined}>{own}</p>
      {newer.map((text) => (
        <p class="problem" role="alert">
          {text}
        </p>
      ))}
    </>
  );
}

/** What is not refused, by decision: how many, and the money by currency. */
function Totals({ rows, words }: { rows: readonly DecidedRow[]; words: Words }) {
  const totals = decidedTotals(rows);
  if (totals.length === 0) return null;
  return (
    <Table
      caption="In total, without what is refused or unchanged"
      columns={[
        { head: 'Decision' },
        { head: 'How many', isFigure: true },
        { head: 'Money', isFigure: true },
      ]}
    >
      {totals.map(({ what, rows: count, ...sum }) => (
        <tr>
          <th scope="row">{what}</th>
          <Figure name="How many">{words.count(count)}</Figure>
          <Figure name="Money">
            <MoneyOf {...sum} words={words} />
          </Figure>
        </tr>
      ))}
    </Table>
  );
}

function Rows(props: { rows: readonly DecidedRow[]; done: string; words: Words }) {
  const { rows, done, words } = props;
  if (rows.length === 0) return null;
  return (
    <Table
      caption="Filled rows, in the order of the workbook"
      columns={[
        { head: 'Sheet' },
        { head: 'Row', isFigure: true },
        { head: 'About' },
        { head: 'Amount', isFigure: true },
        { head: 'Decision' },
        { head: 'Reason, to whom' },
        { head: 'Result' },
        { head: 'In words' },
      ]}
    >
      {rows.map((row) => (
        <tr>
          <td>{row.sheet}</td>
          <Figure name="Row">{row.row}</Figure>
          <td>
            <About row={row} />
          </td>
          <Figure name="Amount">
            <Money row={row} words={words} />
          </Figure>
          <td class="value">{row.decision}</td>
          <td class="value" data-name="Reason, to whom">
            {words.free(row.given)}
          </td>
          <td>
            <span class={`state ${row.result}`}>{row.result === 'done' ? done : row.result}</span>
          </td>
          <td class="value">{row.reason}</td>
        </tr>
      ))}
    </Table>
  );
}

/** That of a payout has the unit of its request. */
function Money({ row: { order }, words }: { row: DecidedRow; words: Words }) {
  if (order === null) return null;
  if (order.payout !== null) {
    const { asked, payee } = order.payout;
    return (
      <>
        {asked}, to {payee}
      </>
    );
  }
  return (
    <>
      {words.amount(order.amount, order.currency)} {order.currency}
    </>
  );
}

function About({ row: { of, id, order } }: { row: DecidedRow }) {
  if (of === null) return <>no id</>;
  return (
    <>
      <a href={`/${of}s/${id}`}>{`${of} ${id}`}</a>
      {order === null ? null : (
        <>
          {' '}
          of <OrderLink accountId={order.accountId} orderNo={order.orderNo} /> ({order.accountId})
          {order.operation === null ? null : `, ${order.operation}`}
          {order.waitsFor === null ? null : `, waiting because ${order.waitsFor}`}
        </>
      )}
    </>
  );
}

function Back() {
  return (
    <p>
      <a href="/reports">Back to the reports</a>
    </p>
  );
}

function sentenceOf(rows: readonly DecidedRow[], done: string): string {
  if (rows.length === 0) return 'No row is filled: there is nothing to decide.';
  return `${resultWords(rows, done)}.`;
}

const DIGEST_CHARS = 64;

function digestOf(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{64}$/.test(text) ? text : null;
}

function ownerOf({ deps, person }: Visit) {
  return { dataDir: deps.config.dataDir, userId: person.userId, now: deps.now() };
}
