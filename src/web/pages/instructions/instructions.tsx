// Instructions: the list by state, and the decisions that close an unknown one or have one planned
// again. Neighbour: instruction.tsx shows one of them whole.

import { holdLabel, waitingState } from '../../../core/instructions/holdReasons.js';
import type { InstructionState } from '../../../core/instructions/instruction.js';
import { INSTRUCTION_STATES } from '../../../core/instructions/instruction.js';
import { labelOf } from '../../../core/text/labels.js';
import type {
  InstructionSort,
  ListedInstruction,
} from '../../../instructions/instructionListStore.js';
import { INSTRUCTION_SORTS, listInstructions } from '../../../instructions/instructionListStore.js';
import type { InstructionCounts } from '../../../instructions/instructionPagesStore.js';
import { countOpen } from '../../../instructions/instructionPagesStore.js';
import type { Words } from '../../format.js';
import type { Column } from '../../layout/parts.js';
import {
  Empty,
  Figure,
  FilterProblem,
  OrderLink,
  Pager,
  State,
  Table,
} from '../../layout/parts.js';
import type { Direction } from '../../layout/sorting.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { chosenBy, seesConfigured } from '../../visitor/filters.js';
import { amountOf } from './decisionBasis.js';
import { decideInstructionRows } from './instructionDecisions.js';
import { groupsOf } from './instructionSets.js';

const ROWS_A_PAGE = 50;
const PAGES_MAX = 20_000;
/** What is not settled; shown when nothing is chosen. */
const OPEN: readonly InstructionState[] = [
  'unknown',
  'held',
  'planned',
  'queued',
  'sending',
  'accepted',
];

function ToBrake() {
  return (
    <p>
      <a href="/brake">Stop or resume sending</a>, of all accounts or of one.
    </p>
  );
}

export async function instructionsPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const state = query.oneOf<InstructionState>('state', INSTRUCTION_STATES);
  const isSettled = state !== null && !OPEN.includes(state);
  const account = query.oneOf('account', accounts);
  const { accountIds, problem } = chosenBy(visit, { state, account });
  const sort = query.oneOf<InstructionSort>('sort', INSTRUCTION_SORTS) ?? 'age';
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const [found, counts, groups] = await Promise.all([
    listInstructions(deps.db, {
      states: state === null ? OPEN : [state],
      accountIds,
      isNewestFirst: isSettled,
      sort,
      // One more than a page tells whether there is a next one.
      limit: ROWS_A_PAGE + 1,
      offset: at * ROWS_A_PAGE,
    }),
    countOpen(deps.db, accountIds),
    state === 'unknown' ? groupsOf({ ...visit, accounts: accountIds }, 'unknown') : null,
  ]);
  const rows = found.slice(0, ROWS_A_PAGE);
  const to = (more: Record<string, string>): string => {
    const kept = { ...(state ? { state } : {}), ...(account ? { account } : {}) };
    return `/instructions?${new URLSearchParams({ ...kept, sort, ...more })}`;
  };
  const head = headsBy(sort, { ...DIRECTIONS, age: isSettled ? 'descending' : 'ascending' }, (by) =>
    to({ sort: by }),
  );
  const body = (
    <>
      <h1>Instructions</h1>
      <FilterProblem words={problem} />
      <States state={state} counts={counts} words={words} />
      {seesConfigured(visit) ? <ToBrake /> : null}
      {groups}
      {rows.length === 0 ? (
        <Empty>
          No instruction is in this state. What the next night plans shows up here; what waits for a
          person is under <a href="/approvals">Approvals</a>.
        </Empty>
      ) : (
        <InstructionTable
          caption={captionOf(sort, isSettled)}
          head={head}
          rows={rows}
          words={words}
        />
      )}
      <Pager
        at={at}
        hasNext={found.length > ROWS_A_PAGE}
        to={(page) => to({ page: String(page + 1) })}
      />
    </>
  );
  return { kind: 'page', title: 'Instructions', section: 'Instructions', body };
}

function captionOf(sort: InstructionSort, isSettled: boolean): string {
  if (sort !== 'age') return 'Instructions';
  return `Instructions, ${isSettled ? 'newest' : 'oldest'} first`;
}

function States(props: {
  state: InstructionState | null;
  counts: readonly InstructionCounts[];
  words: Words;
}) {
  const { state, counts, words } = props;
  return (
    <nav class="states" aria-label="States">
      <a href="/instructions" aria-current={state === null ? 'true' : undefined}>
        not settled
      </a>
      {INSTRUCTION_STATES.map((one) => (
        <a href={`/instructions?state=${one}`} aria-current={state === one ? 'true' : undefined}>
          {stateText(one, counts, words)}
        </a>
      ))}
    </nav>
  );
}

function stateText(
  state: InstructionState,
  counts: readonly InstructionCounts[],
  words: Words,
): string {
  if (!OPEN.includes(state)) return labelOf(state);
  const { count = 0, kept = 0 } = counts.find((one) => one.state === state) ?? {};
  const shown = `${waitingState(state, null)} ${words.count(count - kept)}`;
  return kept === 0 ? shown : `${shown}, held by a setting ${words.count(kept)}`;
}

/** By age is by when they were made. */
export const DIRECTIONS: Readonly<Record<InstructionSort, Direction>> = {
  ...{ age: 'ascending', what: 'ascending', state: 'ascending', amount: 'descending' },
  ...{ order: 'ascending', account: 'ascending' },
};

function InstructionTable(props: {
  caption: string;
  head: (head: string, by: InstructionSort, isFigure?: boolean) => Column;
  rows: readonly ListedInstruction[];
  words: Words;
}) {
  const { caption, head, rows, words } = props;
  return (
    <Table
      caption={caption}
      class="cards"
      columns={[
        head('What', 'what'),
        head('State', 'state'),
        head('Amount', 'amount', true),
        { head: 'Currency' },
        head('Order', 'order'),
        head('Account', 'account'),
        head('Night', 'age'),
        { head: 'Since' },
        { head: 'Why' },
      ]}
    >
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <a href={`/instructions/${row.id}`}>
              {[row.operation, row.refundId, row.reviewDecision].filter(Boolean).join(' ')}
            </a>
          </th>
          <td>
            <State state={row.state} words={waitingState(row.state, row.holdReason)} />
          </td>
          <Figure>{amountOf(row, words)}</Figure>
          <td>{row.currency}</td>
          <td>
            <OrderLink accountId={row.accountId} orderNo={row.orderNo} />
          </td>
          <td>{row.accountId}</td>
          <td class="when" data-name="Night">
            {row.businessDate}
          </td>
          <td class="when" data-name="Since">
            {words.at(row.since)}
          </td>
          <td class="line">{whyOf(row, words)}</td>
        </tr>
      ))}
    </Table>
  );
}

function whyOf(row: ListedInstruction, words: Words): string {
  if (row.holdReason !== null) return holdLabel(row.holdReason);
  const { orderNo, transactionId, refundId } = row;
  return words.reason(row.reason, [
    orderNo,
    transactionId,
    ...(refundId === null ? [] : [refundId]),
  ]);
}

export function resolve(visit: Visit): Promise<Answer> {
  const { form } = visit;
  const finding = form.oneOf('finding', ['happened', 'not_happened'] as const);
  const reason = form.text('words') ?? '';
  const reference = form.text('reference') ?? '';
  if (finding === null) return needs('Say whether it happened or not.');
  return decideInstructionRows(
    visit,
    { kind: 'resolve', finding, reason, reference },
    '/instructions',
  );
}

export function replan(visit: Visit): Promise<Answer> {
  const reason = visit.form.text('words');
  return decideInstructionRows(visit, { kind: 'replan', reason }, '/instructions');
}

async function needs(words: string): Promise<Answer> {
  return { kind: 'refused', status: 400, words };
}
