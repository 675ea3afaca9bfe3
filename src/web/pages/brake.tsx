// The brake: what stops the sending now, since when and why; pulling it, and letting it go. Pulling
// is quick, since it can cost nothing; letting go asks for the password, since money moves again.

import { brakeStatus, letBrakeGo, ownJournal, pullBrake } from '../../brake/brake.js';
import { inSentence } from '../../core/accounts/alike.js';
import { stopWords, underWayWords } from '../../core/instructions/breaker.js';
import { sendsUnderWay } from '../../send/batches/sendingStatusStore.js';
import { pageOf } from '../layout/many.js';
import { Empty, Form, Pager, Table } from '../layout/parts.js';
import { Said } from '../layout/said.js';
import type { Answer, Visit, VisitEvent } from '../visit.js';
import { refused } from '../visit.js';

const ALL = 'all accounts';

export async function brakePage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const said = (at: Date) => `${words.at(at)} ${words.zone}`;
  const own = ownJournal(deps.config);
  const { brakes, accounts: sendingStatuses } = await brakeStatus(deps, accounts, own, said);
  const sends = await sendsUnderWay(deps.db, visit.seesAll ? null : accounts);
  const underWay = underWayWords(sends);
  const stoppedFirst = sendingStatuses.toSorted((one, other) => +one.sends - +other.sends);
  const { shown, at, pages } = pageOf(stoppedFirst, query, 'page');
  const mine = brakes.filter(({ accountId }) => accountId === null || accounts.includes(accountId));
  const body = (
    <>
      <h1>Stop or resume sending</h1>
      <p class="sentence" role="status">
        {stateWords(mine, sendingStatuses)}
      </p>
      {mine.map((brake) => (
        <p class="problem">Stopped {stopWords(brake, said)}</p>
      ))}
      <Table
        caption="What each account may send now"
        columns={[{ head: 'Account' }, { head: 'In words' }]}
      >
        {shown.map(({ accountId, words: text }) => (
          <tr>
            <th scope="row">{accountId}</th>
            <td>
              <Said text={text} zone={words.zone} />
            </td>
          </tr>
        ))}
      </Table>
      <Pager {...{ at, pages }} to={(next) => `/brake?page=${next + 1}`} />
      {underWay === null ? null : <Empty>{underWay}</Empty>}
      <Turn visit={visit} />
    </>
  );
  return { kind: 'page', title: 'Stop or resume sending', section: 'Instructions', body };
}

/** An account that tieout itself has stopped is named, since no brake shows it. */
function stateWords(brakes: Brakes, sendingStatuses: Accounts): string {
  const braked = brakes.map(({ accountId }) => accountId);
  const isAll =
    braked.includes(null) || sendingStatuses.every((one) => braked.includes(one.accountId));
  if (isAll) return 'Sending is stopped. Snapshots go on.';
  if (braked.length > 0) {
    const names = inSentence(braked.flatMap((id) => id ?? []));
    return `Sending is stopped for ${names}. Snapshots go on.`;
  }
  const stopped = sendingStatuses.filter(({ sends }) => !sends).map(({ accountId }) => accountId);
  if (stopped.length === 0) return 'Sending is not stopped.';
  const [them, verb] = stopped.length === 1 ? ['it', 'sends'] : ['one', 'send'];
  return (
    `Nobody has stopped it, but ${inSentence(stopped)} ${verb} nothing: see below why. ` +
    `To resume one that tieout itself stopped, choose ${them} under For.`
  );
}

type Accounts = Awaited<ReturnType<typeof brakeStatus>>['accounts'];
type Brakes = Awaited<ReturnType<typeof brakeStatus>>['brakes'];

function Turn({ visit }: { visit: Visit }) {
  const mine = visit.accountsFor('brake');
  if (mine.length === 0) return <p class="hint">Operators and administrators can stop sending.</p>;
  return (
    <Form action="/brake/on" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Stop sending, or resume it</legend>
        <label>
          For
          <select name="account">
            {visit.hasEverywhere('brake') ? <option value="">{ALL}</option> : null}
            {mine.map((accountId) => (
              <option value={accountId} selected={visit.typed('account') === accountId}>
                {accountId}
              </option>
            ))}
          </select>
        </label>
        <label>
          Reason
          <input name="words" size={40} maxLength={1000} required value={visit.typed('words')} />
        </label>
        <button type="submit" class="danger">
          Stop sending
        </button>
        <button type="submit" formaction="/brake/off" formNoValidate={!visit.person.isFresh}>
          {visit.person.isFresh ? 'Resume sending' : 'Password, to resume sending'}
        </button>
      </fieldset>
    </Form>
  );
}

export async function brakeOn(visit: Visit): Promise<Answer> {
  const order = orderOf(visit);
  if (order === null) return refused(NEEDED);
  const pulled = await pullBrake(visit.deps, order);
  await visit.record(eventOf('stop sending', order.accountId, pulled.kind));
  return { kind: 'redirect', to: '/brake' };
}

export async function brakeOff(visit: Visit): Promise<Answer> {
  const order = orderOf(visit);
  if (order === null) return refused(NEEDED);
  await letBrakeGo(visit.deps, order, ownJournal(visit.deps.config), (tx, { length }) =>
    visit.recordIn(tx, eventOf('resume sending', order.accountId, `${length} lifted`)),
  );
  return { kind: 'redirect', to: '/brake' };
}

const NEEDED = 'Say why, and choose an account that your roles cover.';

function orderOf({ form, accounts, hasEverywhere, decider: who }: Visit) {
  const reason = form.text('words');
  const accountId = form.oneOf('account', accounts);
  const isAll = !form.isGiven('account') && hasEverywhere('brake');
  if (reason === null || (accountId === null && !isAll)) return null;
  return { accountId, reason, who };
}

function eventOf(action: string, accountId: string | null, outcome: string): VisitEvent {
  const of = accountId === null ? {} : { accountId };
  return { action, ...of, subject: accountId ?? ALL, outcome };
}
