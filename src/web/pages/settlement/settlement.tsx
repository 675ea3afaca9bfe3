// What became of the captured money: for each account a sentence a currency, the books at the
// gateway and payable with every figure leading to its rows, and the batches. Only where settlement
// is kept. Neighbours: figureRows.tsx has the rows, batch.tsx a batch, upload.tsx takes a file.

import { areMany } from '../../../core/accounts/alike.js';
import { parseSum } from '../../../core/money.js';
import { labelOf } from '../../../core/text/labels.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import { settledAccounts, settlementRules } from '../../../settlement/settlement.js';
import type { OldestOpen, SettlementDocument } from '../../../settlement/settlementStore.js';
import { oldestOpen, settlementFigures } from '../../../settlement/settlementStore.js';
import { currencySentences } from '../../../settlement/settlementWords.js';
import type { Words } from '../../format.js';
import { WhereLeft } from '../../layout/accountFilter.js';
import { Empty, Figure, FilterProblem, Pager, State, Table } from '../../layout/parts.js';
import type { Direction } from '../../layout/sorting.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { chosenBy } from '../../visitor/filters.js';
import type { FigureName } from './figures.js';
import { BatchLink, FigureLink, figurePath } from './figures.js';
import { leftSection } from './leftAccounts.js';
import { ManyBooks } from './manyBooks.js';
import { reportSection } from './reportForm.js';
import { UploadForm } from './upload.js';

const BATCHES_A_PAGE = 50;
const PAGES_MAX = 10_000;

type AccountBooks = SettlementDocument['accounts'][number];
type Batches = SettlementDocument['batches'];

/** A page that is there only where settlement is kept. */
export function whereKept(
  page: (visit: Visit, rules: SettlementRules) => Promise<Answer>,
): (visit: Visit) => Promise<Answer> {
  return async (visit) => {
    const rules = settlementRules(visit.deps.config);
    return rules === null ? NOT_FOUND : page(visit, rules);
  };
}

export async function settlementPage(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const account = query.oneOf('account', accounts);
  const { accountIds, problem } = chosenBy(visit, { account });
  const settled = await settledAccounts(deps.db, rules, accountIds, null);
  const document = await settlementFigures(deps.db, settled, rules.times);
  const oldest = await oldestOpen(deps.db, settled);
  const { from } = rules.times;
  const body = (
    <>
      <h1>
        Settlement
        {account === null ? '' : `: account ${account}`}
      </h1>
      <FilterProblem words={problem} />
      {problem === null ? null : <WhereLeft />}
      <p class="hint">
        Since {from}, checked at {words.at(document.asOf)}. Every figure leads to the rows that it
        is the sum of.
        {account === null ? null : (
          <>
            {' '}
            <a href="/settlement">The settlement of all accounts</a>
          </>
        )}
      </p>
      {areMany(document.accounts) ? (
        <ManyBooks document={document} oldest={oldest} from={from} visit={visit} />
      ) : (
        document.accounts.map((one) => (
          <Account one={one} oldest={oldest} from={from} words={words} />
        ))
      )}
      {account === null ? await leftSection(visit, rules) : null}
      <UploadForm visit={visit} files={rules.settings.files} />
      {await reportSection(visit)}
      <BatchList batches={document.batches} account={account} visit={visit} />
    </>
  );
  return { kind: 'page', title: 'Settlement', section: 'Settlement', body };
}

function BatchList(props: { batches: Batches; account: string | null; visit: Visit }) {
  const { batches: found, account, visit } = props;
  const { query, words } = visit;
  const sort = query.oneOf<BatchSort>('sort', BATCH_SORTS) ?? 'newest';
  const batches = sortedBatches(found, sort);
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const shown = batches.slice(at * BATCHES_A_PAGE, (at + 1) * BATCHES_A_PAGE);
  const own = account === null ? {} : { account };
  const to = (more: Record<string, string>) =>
    `/settlement?${new URLSearchParams({ ...own, ...more })}#batches`;
  return (
    <>
      <h2 id="batches">Batches</h2>
      {batches.length === 0 ? (
        <Empty>
          No batch yet. <code>tieout import settlement FILE --map MAP</code> takes the acquirer's
          file.
        </Empty>
      ) : (
        <BatchTable batches={shown} words={words} sort={sort} to={(by) => to({ sort: by })} />
      )}
      <Pager
        at={at}
        pages={Math.ceil(batches.length / BATCHES_A_PAGE)}
        to={(page) => to({ sort, page: String(page + 1) })}
      />
    </>
  );
}

const BATCH_SORTS = ['newest', 'batch', 'account', 'state', 'lines', 'payout'] as const;
type BatchSort = (typeof BATCH_SORTS)[number];

const DIRECTIONS: Readonly<Record<BatchSort, Direction>> = {
  ...{ newest: 'descending', batch: 'ascending', account: 'ascending', state: 'ascending' },
  ...{ lines: 'descending', payout: 'descending' },
};

/** Equal ones stay newest first. */
function sortedBatches(batches: Batches, sort: BatchSort): Batches {
  const newest = newestFirst(batches);
  const orders: Record<BatchSort, (a: Batches[number], b: Batches[number]) => number> = {
    newest: () => 0,
    batch: (a, b) => a.batch.localeCompare(b.batch, 'en', { numeric: true }),
    account: (a, b) => a.accountId.localeCompare(b.accountId),
    state: (a, b) => a.state.localeCompare(b.state),
    lines: (a, b) => b.lines - a.lines,
    payout: (a, b) =>
      a.currency.localeCompare(b.currency) ||
      Number((parseSum(b.payout) ?? 0n) - (parseSum(a.payout) ?? 0n)),
  };
  return newest.toSorted(orders[sort]);
}

/** They come by account, oldest first. */
function newestFirst(batches: Batches): Batches {
  const of = new Map<string, Batches[number][]>();
  for (const one of batches) {
    const own = of.get(one.accountId);
    if (own === undefined) of.set(one.accountId, [one]);
    else own.push(one);
  }
  return [...of.values()].flatMap((own) => own.toReversed());
}

function Account(props: {
  one: AccountBooks;
  oldest: readonly OldestOpen[];
  from: string;
  words: Words;
}) {
  const { one, oldest, from, words } = props;
  const { accountId, movements } = one;
  const mine = oldest.filter((row) => row.accountId === accountId);
  return (
    <>
      <h2>Account {accountId}</h2>
      {currencySentences({ accounts: [one] }, mine, from).map((sentence) => (
        <p class="sentence">{sentence}</p>
      ))}
      <AtGateway one={one} words={words} />
      <Payable one={one} words={words} />
      <p class="hint">
        Captures and refunds: {words.count(movements.settled)} settled,{' '}
        {words.count(movements.open)} open, {words.count(movements.overdue)} overdue,{' '}
        {words.count(movements.differs)} settled otherwise than they were made.{' '}
        <OpenBreaks one={one} words={words} />
      </p>
    </>
  );
}

function OpenBreaks({ one, words }: { one: AccountBooks; words: Words }) {
  const count = Object.values(one.breaks).reduce((sum, breaks) => sum + breaks, 0);
  if (count === 0) return <>No break of settlement is open.</>;
  return (
    <>
      Open breaks of settlement:{' '}
      {Object.entries(one.breaks).map(([kind, breaks], at) => (
        <>
          {at > 0 ? ', ' : ''}
          <a href={`/breaks?${new URLSearchParams({ account: one.accountId, kind })}`}>
            {words.count(breaks)} {labelOf(kind)}
          </a>
        </>
      ))}
      .
    </>
  );
}

type Amounts = Exclude<FigureName, 'suspense'>;

/** Figures of a book side by side, each under the name that its rows are listed by. */
function FigureLinks(props: {
  of: Readonly<Partial<Record<Amounts, string>>>;
  row: Readonly<Partial<Record<Amounts, string>>> & { currency: string };
  accountId: string;
  words: Words;
}) {
  const { of, row, accountId, words } = props;
  return (
    <>
      {(Object.entries(of) as [Amounts, string][]).map(([one, name]) => (
        <FigureLink
          of={one}
          name={name}
          accountId={accountId}
          currency={row.currency}
          amount={row[one] ?? ''}
          words={words}
        />
      ))}
    </>
  );
}

const NOT_SETTLED = 'Not settled yet';
const NOT_PAID_OUT = 'Not paid out yet';
const SUSPENSE = 'In suspense';
const AT_GATEWAY = { captured: 'Captured', refunded: 'Refunded', settled: 'Settled' } as const;

function AtGateway({ one, words }: { one: AccountBooks; words: Words }) {
  if (one.atGateway.length === 0) return null;
  const { accountId } = one;
  return (
    <Table
      caption={`At the gateway, ${accountId}`}
      isCaptionSeen
      class="lists"
      columns={[
        { head: 'Currency' },
        ...[...Object.values(AT_GATEWAY), NOT_SETTLED, SUSPENSE].map((head) => {
          return { head, isFigure: true };
        }),
      ]}
    >
      {one.atGateway.map((row) => (
        <tr>
          <th scope="row">{row.currency}</th>
          <FigureLinks of={AT_GATEWAY} row={row} accountId={accountId} words={words} />
          <FigureLink
            of="open"
            name={NOT_SETTLED}
            accountId={accountId}
            currency={row.currency}
            amount={row.closing}
            words={words}
          />
          <Figure name={SUSPENSE}>
            <a href={figurePath('suspense', accountId, row.currency)}>
              {words.count(row.suspense)}
            </a>
          </Figure>
        </tr>
      ))}
    </Table>
  );
}

const PAYABLE = {
  ...{ gross: 'Gross', fees: 'Fees', chargebacks: 'Chargebacks', other: 'Other' },
  paidOut: 'Paid out',
} as const;

function Payable({ one, words }: { one: AccountBooks; words: Words }) {
  if (one.payable.length === 0) return null;
  const { accountId } = one;
  return (
    <Table
      caption={`Payable, ${accountId}`}
      isCaptionSeen
      class="lists"
      columns={[
        { head: 'Currency' },
        ...[...Object.values(PAYABLE), NOT_PAID_OUT].map((head) => ({ head, isFigure: true })),
      ]}
    >
      {one.payable.map((row) => (
        <tr>
          <th scope="row">{row.currency}</th>
          <FigureLinks of={PAYABLE} row={row} accountId={accountId} words={words} />
          <Figure name={NOT_PAID_OUT}>
            <a href="#batches">{words.amount(row.closing, row.currency)}</a>
          </Figure>
        </tr>
      ))}
    </Table>
  );
}

function BatchTable(props: {
  batches: Batches;
  words: Words;
  sort: BatchSort;
  to: (sort: BatchSort) => string;
}) {
  const { batches, words, sort, to } = props;
  const head = headsBy(sort, DIRECTIONS, to);
  return (
    <Table
      caption={`Batches${sort === 'newest' ? ' by account, newest first' : ''}`}
      class="lists"
      columns={[
        head('Batch', 'batch'),
        head('Account', 'account'),
        head('State', 'state'),
        head('Lines', 'lines', true),
        head('Payout', 'payout', true),
        { head: 'Currency' },
      ]}
    >
      {batches.map((one) => (
        <tr>
          <th scope="row">
            <BatchLink accountId={one.accountId} batch={one.batch} />
          </th>
          <td>{one.accountId}</td>
          <td>
            <State state={one.state} />
          </td>
          <Figure name="Lines">{words.count(one.lines)}</Figure>
          <Figure name="Payout">{words.amount(one.payout, one.currency)}</Figure>
          <td>{one.currency}</td>
        </tr>
      ))}
    </Table>
  );
}
