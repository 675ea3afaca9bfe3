// The sheet of one instruction: what it moves, what a decision is bound to, what happened, every
// attempt with its raw answer, and the decision that is possible now.

import { unsentWords } from '../../../core/accounts/observed.js';
import { isSamePerson } from '../../../core/instructions/decider.js';
import { isUndecided } from '../../../core/instructions/decision.js';
import { hintWords } from '../../../core/instructions/hints.js';
import {
  holdLabel,
  holdLabels,
  isApprovable,
  waitingState,
} from '../../../core/instructions/holdReasons.js';
import { instructionMoney, writtenAmount } from '../../../core/instructions/instruction.js';
import { payoutWords } from '../../../core/instructions/payoutAnswer.js';
import { leavingWords } from '../../../core/instructions/payouts/payoutAsked.js';
import { labelOf } from '../../../core/text/labels.js';
import type { SheetAttempt, SheetSnapshot } from '../../../instructions/instructionListStore.js';
import { accountOfInstruction } from '../../../instructions/instructionPagesStore.js';
import type { Sheet } from '../../../instructions/instructionSheet.js';
import { idsOf, sheetOf } from '../../../instructions/instructionSheet.js';
import type { Words } from '../../format.js';
import { Empty, Form, OrderLink, State } from '../../layout/parts.js';
import { Said } from '../../layout/said.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { rowIdOf } from '../../visitor/fields.js';
import { accountWords } from '../../visitor/filters.js';
import { Decided } from './decided.js';
import { SeenList } from './decisionBasis.js';
import { Replan, Resolve } from './findingForms.js';
import { Lapsing, lapsingOf } from './lapsing.js';
import { LostPermits } from './lostPermits.js';
import { OpenBreaks, openBreaksOf } from './openBreaks.js';

export async function instructionPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, words } = visit;
  const id = rowIdOf(visit.params.id);
  const account = id === null ? null : await accountOfInstruction(deps.db, id);
  if (id === null || account === null || !accounts.includes(account)) return NOT_FOUND;
  const { refundReasonTag } = deps.config.gateway.profile;
  const named = visit.seesAll ? {} : { accounts };
  const sheet = await sheetOf({ db: deps.db, refundReasonTag, ...named }, id);
  if (sheet === null) return NOT_FOUND;
  const lapsing = isUndecided(sheet.state) ? await lapsingOf(visit, [account]) : null;
  const open = await openBreaksOf(visit, sheet);
  const body = (
    <>
      <h1>
        {[sheet.operation, sheet.refundId, sheet.reviewDecision].filter(Boolean).join(' ')}{' '}
        {instructionMoney(sheet, sheet.seen.payout?.amount)}{' '}
        <State state={sheet.state} words={waitingState(sheet.state, sheet.holdReason)} />
      </h1>
      <p class="sentence">
        Order <OrderLink accountId={sheet.accountId} orderNo={sheet.orderNo} /> of account{' '}
        {accountWords(visit, sheet.accountId)}, transaction {sheet.transactionId}.{' '}
        {whyOf(sheet, words)}
      </p>
      <Lapsing of={lapsing?.get(String(id))} words={words} />
      <p class="hint">
        Planned by the night of {sheet.businessDate}.{' '}
        {sheet.askedBy.length === 0 ? '' : `Asked by ${words.free(sheet.askedBy.join(', '))}. `}
        {approvalText(sheet, words)}
        {referenceText(sheet)}
        {sheet.payout === null ? '' : ` The gateway said: ${payoutWords(sheet.payout)}.`}
        {sheet.hintedAt === null ? '' : ` And ${hintWords(words.at(sheet.hintedAt))}.`}
      </p>
      {sheet.state === 'unknown' ? <Search sheet={sheet} words={words} /> : null}
      <h2>What a decision is bound to</h2>
      <SeenList
        seen={sheet.seen}
        words={words}
        payee={visit.accountsFor('approve').includes(account) ? sheet.payee : null}
      />
      <LostPermits lost={sheet.lostPermits} words={words} />
      <p class="hint">
        Digest <code>{sheet.seenSha256.slice(0, 12)}</code>
      </p>
      <OpenBreaks open={open} words={words} />
      <Decide visit={visit} sheet={sheet} />
      <Decisions sheet={sheet} words={words} />
      <Events sheet={sheet} words={words} />
      <Attempts sheet={sheet} words={words} mayRead={mayReadAnswers(visit, sheet)} />
    </>
  );
  const title = `${sheet.operation} of ${sheet.orderNo}`;
  return { kind: 'page', title, section: 'Instructions', body };
}

/** Ids of the gateway, as they are: a person looks them up in the portal. */
function referenceText({ gatewayReference, refundReference }: Sheet): string {
  const named = [
    gatewayReference === null ? null : `${gatewayReference} at the gateway`,
    refundReference === null ? null : `its refund reference ${refundReference}`,
  ].filter((part) => part !== null);
  return named.length === 0 ? '' : ` It is ${named.join(', ')}.`;
}

function isPending({ payout, state }: Sheet): boolean {
  return payout?.meaning === 'pending' && state === 'accepted';
}

function whyOf(sheet: Sheet, words: Words): string {
  if (sheet.holdReason !== null) {
    return `It waits: ${holdLabels(sheet.holdReason, sheet.thenHeldFor)}.`;
  }
  if (isPending(sheet)) {
    return 'The gateway took it and has not done it yet; a person says what became of it.';
  }
  if (sheet.state === 'accepted') {
    return 'The gateway said yes; the next snapshot confirms it, in a night that is run.';
  }
  return sheet.reason === null ? '' : `Why: ${words.reason(sheet.reason, idsOf(sheet))}.`;
}

function approvalText({ approval, state }: Sheet, words: Words): string {
  if (approval === null) return '';
  const by = `Approved by ${approval.by} at ${words.at(approval.at)}`;
  if (!isUndecided(state)) return `${by}.`;
  const holds =
    approval.lapse === null
      ? `it holds until ${words.at(approval.expiresAt)}`
      : holdLabel(approval.lapse);
  return `${by}; ${holds}.`;
}

/** What a person needs to find out in the merchant portal what really happened. */
function Search({ sheet, words }: { sheet: Sheet; words: Words }) {
  const { window } = sheet;
  return (
    <>
      <h2>What to look for in the merchant portal</h2>
      <ul>
        <li>
          Transaction {sheet.transactionId}, order {sheet.orderNo}, {moneyOf(sheet)}
        </li>
        {window === null ? null : (
          <li>
            Between {words.at(window.from)} and{' '}
            {window.until === null ? 'now' : words.at(window.until)}
          </li>
        )}
        {sheet.tag === null ? null : <li>{sheet.tag} in the reason of the refund</li>}
        {sheet.nextReference === null ? null : (
          <li>
            A refund reference {sheet.nextReference} or above; known to be ours:{' '}
            {sheet.references.join(', ') || 'none'}
          </li>
        )}
        <li>Before it was sent: {snapshotText(sheet.stateBefore, words)}</li>
        <li>Since then: {snapshotText(sheet.stateAfter, words)}</li>
      </ul>
      <p class="hint">It blocks its order, and is never sent again by itself.</p>
    </>
  );
}

function snapshotText(snapshot: SheetSnapshot | null, words: Words): string {
  if (snapshot === null) return 'no complete snapshot';
  const entries = snapshot.entries.map(({ state, code, amount, currency }) => {
    const money = `${words.amount(amount, currency)} ${currency}`;
    return `${state === null ? `code ${code}` : labelOf(state)} ${money}`;
  });
  return `${entries.join(', ') || 'no such order'}, checked at ${words.at(snapshot.at)}`;
}

function Decide({ visit, sheet }: { visit: Visit; sheet: Sheet }) {
  const may = (right: 'approve' | 'resolve'): boolean =>
    visit.accountsFor(right).includes(sheet.accountId);
  const again = (
    <p>
      <a href={`/confirm?next=${encodeURIComponent(visit.here)}`}>Your password</a>, to decide.
    </p>
  );
  const pick = `${sheet.id}:${sheet.seenSha256}`;
  if (sheet.state === 'held' && may('approve')) {
    return visit.person.isFresh ? <Approve visit={visit} pick={pick} sheet={sheet} /> : again;
  }
  if ((sheet.state === 'unknown' || isPending(sheet)) && may('resolve')) {
    return visit.person.isFresh ? <Resolve visit={visit} pick={pick} sheet={sheet} /> : again;
  }
  const isOver = sheet.state === 'rejected' || sheet.state === 'withdrawn';
  if (isOver && !sheet.isReplanned && may('resolve')) {
    return visit.person.isFresh ? <Replan visit={visit} pick={pick} /> : again;
  }
  return null;
}

/** A fraud review moves no money: it is named by what it decides. */
function moneyOf(sheet: Sheet): string {
  const { operation, reviewDecision, isInTotals } = sheet;
  if (operation === 'review') return ['the review', reviewDecision].filter(Boolean).join(': ');
  const money = instructionMoney(sheet, sheet.seen.payout?.amount);
  const leaving = leavingWords(sheet.seen.payout);
  const from = leaving === null ? '' : `, for which ${leaving} leaves our account`;
  if (isInTotals) return `${money}${from}`;
  const why = writtenAmount(sheet.amount) === null ? '' : ', in a unit nobody has set';
  return `the payout of ${money}${why}${from}`;
}

/** What no approval of this person frees has no button for it. */
function Approve({ visit, pick, sheet }: { visit: Visit; pick: string; sheet: Sheet }) {
  const isAsked = sheet.askedBy.some((name) => isSamePerson(name, visit.person.name));
  const mayApprove = isApprovable(sheet.holdReason) && !isAsked;
  const { config, now } = visit.deps;
  const unsent = unsentWords(sheet.accountId, config.accounts, now());
  return (
    <Form action="/approvals/approve" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Decide</legend>
        <input type="hidden" name="id" value={pick} />
        <input type="hidden" name="sheet" value="yes" />
        <label>
          Reason; needed to reject
          <input name="words" size={40} maxLength={1000} value={visit.typed('words')} />
        </label>
        {mayApprove ? (
          <button type="submit" class="main">
            Approve {moneyOf(sheet)}
            {unsent === null ? ': it will be sent' : ''}
          </button>
        ) : null}
        <button type="submit" formaction="/approvals/reject" class="danger">
          Reject: it will not be sent
        </button>
        {unsent === null ? null : (
          <span class="hint">
            <Said text={unsent} zone={visit.words.zone} />
          </span>
        )}
        {mayApprove ? null : (
          <span class="hint">
            {isAsked ? 'You asked for it: somebody else approves it.' : 'It cannot be approved.'}
          </span>
        )}
      </fieldset>
    </Form>
  );
}

function Decisions({ sheet, words }: { sheet: Sheet; words: Words }) {
  const keep = idsOf(sheet);
  return (
    <>
      <h2>Decisions</h2>
      {sheet.decisions.length === 0 ? <Empty>Nobody has decided about it.</Empty> : null}
      {sheet.decisions.map((one) => (
        <>
          <p>
            <Decided one={one} keep={keep} words={words} />:
          </p>
          <SeenList seen={one.seen} words={words} />
        </>
      ))}
    </>
  );
}

function Events({ sheet, words }: { sheet: Sheet; words: Words }) {
  return (
    <>
      <h2>What happened</h2>
      <ol class="timeline">
        {sheet.events.map((event) => (
          <li>
            <time>{words.at(event.at)}</time> {waitingState(event.to, event.reason)} by {event.by}
            {event.reason === null ? '' : ` (${eventText(event, sheet, words)})`}
          </li>
        ))}
      </ol>
    </>
  );
}

function eventText({ to, reason }: Sheet['events'][number], sheet: Sheet, words: Words): string {
  return words.reason(to === 'held' && reason !== null ? holdLabel(reason) : reason, idsOf(sheet));
}

/** That to a payout names the account that was paid, whole. */
function mayReadAnswers(visit: Visit, { operation, accountId }: Sheet): boolean {
  const may = (right: 'approve' | 'resolve') => visit.accountsFor(right).includes(accountId);
  return operation !== 'payout' || may('approve') || may('resolve');
}

function Attempts(props: { sheet: Sheet; words: Words; mayRead: boolean }) {
  const { sheet, words, mayRead } = props;
  return (
    <>
      <h2>Attempts to send</h2>
      {sheet.attempts.length === 0 ? <Empty>No attempt is on record.</Empty> : null}
      {sheet.attempts.map((attempt) => (
        <Attempt attempt={attempt} keep={idsOf(sheet)} words={words} mayRead={mayRead} />
      ))}
    </>
  );
}

function Attempt(props: {
  attempt: SheetAttempt;
  keep: readonly string[];
  words: Words;
  mayRead: boolean;
}) {
  const { attempt, keep, words, mayRead } = props;
  const { answer } = attempt;
  const others = attempt.entries === 1 ? 'alone' : `with ${attempt.entries - 1} others`;
  return (
    <>
      <h3>
        {words.at(attempt.claimedAt)}: {labelOf(attempt.outcome ?? 'under way')}
      </h3>
      <p>
        Attempt <code>{attempt.id}</code>, {others}, by {attempt.host} (process {attempt.pid}).
        {attempt.reason === null ? '' : ` ${words.reason(attempt.reason, keep)}.`}
      </p>
      {answer === null ? (
        <p>No answer is on record.</p>
      ) : (
        <>
          <p>The gateway answered at {words.at(answer.receivedAt)}.</p>
          {mayRead ? (
            <details>
              <summary>
                Its answer as it came (HTTP {answer.status}, {words.count(answer.bytes)} bytes)
              </summary>
              <pre class="raw">{answer.body}</pre>
            </details>
          ) : (
            <p class="hint">
              Its answer names the account that was paid; approvers and operators are shown it.
            </p>
          )}
        </>
      )}
    </>
  );
}
