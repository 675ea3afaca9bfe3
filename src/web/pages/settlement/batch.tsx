// A batch of the acquirer: the file that brought it, its breaks, and its lines in pages, each with
// the movement that it settles and, where a tariff says one, the agreed fee beside the taken one.

import { findBreaks } from '../../../breaks/breaksStore.js';
import { labelOf } from '../../../core/text/labels.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import type { BatchPageLine } from '../../../settlement/settlementPagesStore.js';
import {
  batchBreakIds,
  batchFiles,
  batchPageLines,
} from '../../../settlement/settlementPagesStore.js';
import { Empty, Figure, Name, OrderLink, Pager, State, Table } from '../../layout/parts.js';
import { Said } from '../../layout/said.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { sentenceOf } from '../breaks/breaks.js';
import { BackToSettlement, batchPath } from './figures.js';

const LINES_A_PAGE = 100;
const PAGES_MAX = 100_000;
const BREAKS_SHOWN_MAX = 100;

type Files = Awaited<ReturnType<typeof batchFiles>>;

export async function batchPage(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const { deps, accounts, params, query } = visit;
  const { account = '', batch = '' } = params;
  if (!accounts.includes(account)) return NOT_FOUND;
  const files = await batchFiles(deps.db, account, batch);
  if (files.length === 0) return NOT_FOUND;
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const page = { limit: LINES_A_PAGE, offset: at * LINES_A_PAGE };
  const which = { accountId: account, batch };
  const lines = await batchPageLines(deps.db, which, rules.times, rules.fees, page);
  const count = files.reduce((sum, one) => sum + Number(one.lines), 0);
  const body = (
    <>
      <h1>Batch {batch}</h1>
      <p class="sentence">
        Account {account}: {payouts(files, visit)}. <BackToSettlement visit={visit} />
      </p>
      <FileTable files={files} visit={visit} />
      <Breaks found={await breaksOf(visit, account, batch)} visit={visit} />
      <h2>Lines</h2>
      <LineTable lines={lines} accountId={account} visit={visit} />
      <Pager
        at={at}
        pages={Math.ceil(count / LINES_A_PAGE)}
        to={(next) => `${batchPath(account, batch)}?page=${next + 1}`}
      />
    </>
  );
  return { kind: 'page', title: `Batch ${batch}`, section: 'Settlement', body };
}

function payouts(files: Files, { words }: Visit): string {
  const said = files.map(
    ({ lines, payout, currency }) =>
      `${words.count(lines)} lines, pays out ${words.amount(payout, currency)} ${currency}`,
  );
  return said.join('; ');
}

/** What the file holds is of all its accounts, and told to who sees them all. */
function FileTable({ files, visit }: { files: Files; visit: Visit }) {
  const { words, seesAll } = visit;
  return (
    <Table
      caption="The file that brought it"
      isCaptionSeen
      columns={[
        { head: 'Currency' },
        { head: 'Gross', isFigure: true },
        { head: 'Fees', isFigure: true },
        { head: 'Payout', isFigure: true },
        { head: 'File' },
        { head: 'Imported' },
        ...(seesAll ? [{ head: 'Holds' }] : []),
        { head: 'SHA-256' },
      ]}
    >
      {files.map((one) => (
        <tr>
          <th scope="row">{one.currency}</th>
          <Figure>{words.amount(one.gross, one.currency)}</Figure>
          <Figure>{words.amount(one.fees, one.currency)}</Figure>
          <Figure>{words.amount(one.payout, one.currency)}</Figure>
          <td>{words.free(one.fileName)}</td>
          <td>{words.at(one.importedAt)}</td>
          {seesAll ? (
            <td>
              batches {words.count(one.fileBatches)}, lines {words.count(one.fileLines)}
            </td>
          ) : null}
          <td class="value">
            <code>{one.sha256}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function breaksOf({ deps }: Visit, accountId: string, batch: string) {
  const ids = await batchBreakIds(deps.db, accountId, batch, BREAKS_SHOWN_MAX);
  if (ids.length === 0) return [];
  const filter = { ids, accountIds: [accountId] };
  return findBreaks(deps.db, filter, { limit: ids.length, offset: 0 });
}

type Found = Awaited<ReturnType<typeof breaksOf>>;

function Breaks({ found, visit: { words } }: { found: Found; visit: Visit }) {
  if (found.length === 0) return <Empty>No break stands on this batch or its orders.</Empty>;
  return (
    <Table
      caption={found.length < BREAKS_SHOWN_MAX ? 'Its breaks' : `Its first ${found.length} breaks`}
      isCaptionSeen
      class="cards"
      columns={[
        { head: 'Order or batch' },
        { head: 'What differs' },
        { head: 'State' },
        { head: 'At stake', isFigure: true },
        { head: 'Currency' },
      ]}
    >
      {found.map((row) => (
        <tr>
          <th scope="row">
            <Name name={row.orderNo} />
          </th>
          <td class="line">
            <a href={`/breaks/${row.breakId}`}>{labelOf(row.kind)}</a>
            <span class="hint">
              {' '}
              <Said text={sentenceOf(row)} />
            </span>
          </td>
          <td>
            <State state={row.state} />
          </td>
          <Figure>{words.amount(row.stake, row.currency)}</Figure>
          <td>{row.currency}</td>
        </tr>
      ))}
    </Table>
  );
}

function LineTable(props: { lines: readonly BatchPageLine[]; accountId: string; visit: Visit }) {
  const { words } = props.visit;
  return (
    <Table
      caption="Lines of the batch"
      class="lists fits"
      columns={[
        { head: 'Line' },
        { head: 'Type' },
        { head: 'Booked' },
        { head: 'Order' },
        { head: 'Settles' },
        { head: 'Gross', isFigure: true },
        { head: 'Fee', isFigure: true },
        { head: 'Agreed fee', isFigure: true },
        { head: 'Net', isFigure: true },
        { head: 'Currency' },
      ]}
    >
      {props.lines.map((line) => (
        <tr class={line.beyond === true ? 'differs' : undefined}>
          <th scope="row">
            <Name name={line.lineId} />
          </th>
          <td>{labelOf(line.type)}</td>
          <td>{words.at(line.bookedAt)}</td>
          <td>
            <Name name={line.orderNo ?? ''} />
          </td>
          <td>
            <Settled line={line} accountId={props.accountId} />
          </td>
          <Figure>{words.amount(line.gross, line.settleCurrency)}</Figure>
          <Figure>{words.amount(line.fee, line.settleCurrency)}</Figure>
          <Figure>
            {line.agreed === null ? '' : words.amount(line.agreed, line.settleCurrency)}
          </Figure>
          <Figure>{words.amount(line.net, line.settleCurrency)}</Figure>
          <td>{line.settleCurrency}</td>
        </tr>
      ))}
    </Table>
  );
}

function Settled({ line, accountId }: { line: BatchPageLine; accountId: string }) {
  if (line.settlesOrder !== null) {
    return (
      <>
        <OrderLink accountId={accountId} orderNo={line.settlesOrder} />
        <span class="hint">
          {' '}
          of {line.movedOn}, by {line.matchedBy}
        </span>
      </>
    );
  }
  const waits = line.type === 'captured' || line.type === 'refunded';
  return waits ? <>nothing found yet</> : null;
}
