// Approvals: what will be sent, to whom, how much, why, and what the gateway showed. A tick carries
// the digest of exactly what stands beside it, so that an approval of anything that changed
// meanwhile is void. Who may decide what is the rule of `tieout instructions`.

import type { ComponentChildren } from 'preact';
import { areMany } from '../../../core/accounts/alike.js';
import { isSamePerson } from '../../../core/instructions/decider.js';
import {
  holdWords,
  isApprovable,
  isApprovedAlone,
} from '../../../core/instructions/holdReasons.js';
import { counted, moneyText } from '../../../core/text/amounts.js';
import type { InstructionSort } from '../../../instructions/instructionListStore.js';
import { INSTRUCTION_SORTS } from '../../../instructions/instructionListStore.js';
import type { HeldInstruction } from '../../../instructions/instructionPagesStore.js';
import { heldInstructions } from '../../../instructions/instructionPagesStore.js';
import type { Waiting } from '../../../report/consoleRunsStore.js';
import { waitingCounts } from '../../../report/consoleRunsStore.js';
import type { Words } from '../../format.js';
import { AccountFilter } from '../../layout/accountFilter.js';
import {
  Empty,
  Figure,
  FilterProblem,
  Form,
  OrderLink,
  Pager,
  Pick,
  PickAll,
  Table,
} from '../../layout/parts.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { chosenBy } from '../../visitor/filters.js';
import { amountOf, SeenList } from './decisionBasis.js';
import { groupsOf } from './instructionSets.js';
import { DIRECTIONS } from './instructions.js';
import { Lapsing, lapsingOf } from './lapsing.js';
import { decidePicked } from './pickedPreview.js';

const ROWS_A_PAGE = 50;
const PAGES_MAX = 20_000;
const HELD_SORTS = INSTRUCTION_SORTS.filter((one) => one !== 'state');

export async function approvalsPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const sort = query.oneOf<InstructionSort>('sort', HELD_SORTS) ?? 'age';
  const page = { limit: ROWS_A_PAGE, offset: at * ROWS_A_PAGE, sort };
  const account = query.oneOf('account', accounts);
  const { accountIds, problem } = chosenBy(visit, { account });
  const [rows, waits, groups, lapsing] = await Promise.all([
    heldInstructions(deps.db, accountIds, page),
    waitingCounts(deps.db, accountIds),
    groupsOf({ ...visit, accounts: accountIds }, 'held'),
    lapsingOf(visit, accountIds),
  ]);
  const to = (more: Record<string, string>): string =>
    `/approvals?${new URLSearchParams({ ...(account ? { account } : {}), sort, ...more })}`;
  const body = (
    <>
      <h1>Approvals{account === null ? '' : `: account ${account}`}</h1>
      <FilterProblem words={problem} />
      {problem === null ? (
        <p class="sentence" role="status">
          {waitingWords(waits)}
          {waits.kept === 0
            ? null
            : ` Held by a setting, which no approval frees: ${words.count(waits.kept)}` +
              `${sort === 'age' ? ', listed last' : ''}.`}
        </p>
      ) : null}
      {areMany(accounts) ? <AccountFilter visit={visit} action="/approvals" /> : null}
      {groups}
      {problem !== null ? null : rows.length === 0 ? (
        <Empty>
          Nothing waits for approval. What the settings let tieout send by itself is under{' '}
          <a href="/instructions">Instructions</a>.
        </Empty>
      ) : (
        <ApproveForm visit={visit}>
          <HeldTable {...{ rows, visit, sort, to, lapsing }} />
        </ApproveForm>
      )}
      <Pager
        at={at}
        pages={Math.ceil(waits.held / ROWS_A_PAGE)}
        to={(next) => to({ page: String(next + 1) })}
      />
    </>
  );
  return { kind: 'page', title: 'Approvals', section: 'Approvals', body };
}

/** The money is the sum of the rows below that move any. */
function waitingWords({ held, kept, reviews, unmeasured, heldMoney }: Waiting): string {
  const money = moneyText(heldMoney);
  const count = counted(held - kept, 'instruction');
  const all = `Waiting for approval: ${count}${money === '' ? '' : `, ${money}`}`;
  const parts = [
    all,
    ...(reviews === 0 ? [] : [`${counted(reviews, 'fraud review')} among them, without money`]),
    ...(unmeasured === 0 ? [] : [`${counted(unmeasured, 'payout')} without a known amount`]),
  ];
  return `${parts.join('; ')}.`;
}

function ApproveForm({ visit, children }: { visit: Visit; children: ComponentChildren }) {
  if (visit.accountsFor('approve').length === 0) {
    return (
      <>
        <p class="hint">Your roles let you look; approvers decide.</p>
        {children}
      </>
    );
  }
  return (
    <Form action="/approvals/approve" csrf={visit.csrf}>
      <p class="hint">
        Who asked for it cannot approve it. What is approved is sent by a worker that runs, or by
        the next night, after one more look at the gateway; if anything differs then, it comes back
        here.
      </p>
      <PickAll />
      {children}
      <fieldset class="decide">
        <legend>Decide about what is picked above</legend>
        <label>
          Reason; needed to reject
          <input name="words" size={40} maxLength={1000} value={visit.typed('words')} />
        </label>
        <button type="submit" class="main">
          {visit.person.isFresh
            ? 'Approve what is picked: it will be sent'
            : 'Password, to approve'}
        </button>
        <button type="submit" formaction="/approvals/reject" class="danger">
          Reject what is picked: it will not be sent
        </button>
      </fieldset>
    </Form>
  );
}

function HeldTable(props: {
  rows: readonly HeldInstruction[];
  visit: Visit;
  sort: InstructionSort;
  to: (more: Record<string, string>) => string;
  lapsing: Awaited<ReturnType<typeof lapsingOf>>;
}) {
  const { rows, visit, sort, to, lapsing } = props;
  const { words } = visit;
  const approving = visit.accountsFor('approve');
  const mayApprove = approving.length > 0;
  const head = headsBy(sort, DIRECTIONS, (by) => to({ sort: by }));
  return (
    <Table
      caption={`What waits for approval${sort === 'age' ? ', oldest first' : ''}`}
      class="cards"
      columns={[
        ...(mayApprove ? [{ head: 'Pick' }] : []),
        head('What will be sent', 'what'),
        head('Amount', 'amount', true),
        { head: 'Currency' },
        head('Order', 'order'),
        head('Account', 'account'),
        { head: 'Why it waits' },
        { head: 'Asked by' },
        head('What was seen', 'age'),
      ]}
    >
      {rows.map((row) => (
        <tr>
          {mayApprove ? (
            <td>
              <Tick row={row} visit={visit} />
            </td>
          ) : null}
          <th scope="row">
            <a href={`/instructions/${row.id}`}>
              {[row.operation, row.refundId, row.reviewDecision].filter(Boolean).join(' ')}
            </a>
            {row.operation === 'review' ? <span class="hint">no money moves</span> : null}
            <Lapsing of={lapsing.get(String(row.id))} words={words} />
          </th>
          <Figure>{amountOf(row, words)}</Figure>
          <td>{row.currency}</td>
          <td>
            <OrderLink accountId={row.accountId} orderNo={row.orderNo} />
          </td>
          <td>{row.accountId}</td>
          <Why holdReason={row.holdReason} />
          <td class="line" data-name="Asked by">
            {words.free(row.askedBy.join(', '))}
          </td>
          <Shown row={row} mayApprove={approving.includes(row.accountId)} words={words} />
        </tr>
      ))}
    </Table>
  );
}

function Shown(props: { row: HeldInstruction; mayApprove: boolean; words: Words }) {
  const { row, mayApprove, words } = props;
  return (
    <td class="line">
      <SeenList seen={row.seen} words={words} payee={mayApprove ? row.payee : null} />
      <span class="hint">checked at {words.at(row.snapshotAt)}</span>
    </td>
  );
}

function Why({ holdReason }: { holdReason: HeldInstruction['holdReason'] }) {
  return (
    <td class="line reason">
      {holdWords(holdReason)}
      {isApprovable(holdReason) ? null : <span class="hint">Cannot be approved as it is</span>}
    </td>
  );
}

/** What no approval of this person frees is not ticked; its own page rejects it, for who may. */
function Tick({ row, visit }: { row: HeldInstruction; visit: Visit }) {
  const isAsked = row.askedBy.some((name) => isSamePerson(name, visit.person.name));
  if (!visit.accountsFor('approve').includes(row.accountId)) return null;
  if (isApprovedAlone(row.holdReason) && !isAsked) {
    return <a href={`/instructions/${row.id}`}>On its own page</a>;
  }
  if (isApprovable(row.holdReason) && !isAsked) {
    const what = `${row.operation} of ${row.orderNo}`;
    return <Pick id={`${row.id}:${row.seenSha256}`} what={what} ticked={visit.ticked} />;
  }
  return (
    <a href={`/instructions/${row.id}`}>{isAsked ? 'You asked for it: reject' : 'Reject only'}</a>
  );
}

export function approve(visit: Visit): Promise<Answer> {
  const reason = visit.form.text('words');
  return decidePicked(visit, { kind: 'approve', reason });
}

export function reject(visit: Visit): Promise<Answer> {
  const reason = visit.form.text('words') ?? '';
  return decidePicked(visit, { kind: 'reject', reason });
}
