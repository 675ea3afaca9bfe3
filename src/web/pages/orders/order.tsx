// One order's whole history on a page. The history is the one that `tieout order` prints; here
// every part is a table.

import { eventLabels } from '../../../core/breaks/outcome.js';
import { hintWords } from '../../../core/instructions/hints.js';
import { reasonToWait, waitingState } from '../../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../../core/instructions/instruction.js';
import { type PayoutAnswer, payoutWords } from '../../../core/instructions/payoutAnswer.js';
import { gapWords } from '../../../core/instructions/refundOrdinals.js';
import type { Coverage } from '../../../core/orders/coverage.js';
import { coverageLabel, lookLabel } from '../../../core/orders/coverage.js';
import { removedLine, searchedLine } from '../../../core/runs/removal.js';
import { moneyIn } from '../../../core/text/amounts.js';
import { disputeText, labelOf, labelStates } from '../../../core/text/labels.js';
import type { OrderHistory } from '../../../orders/historyStore.js';
import { looksSince, orderHistory } from '../../../orders/historyStore.js';
import type { Words } from '../../format.js';
import { Empty, Figure, State, Table } from '../../layout/parts.js';
import { Said } from '../../layout/said.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { accountWords } from '../../visitor/filters.js';
import { ShownEntries } from '../breaks/shownBeside.js';
import { Decided } from '../instructions/decided.js';
import { LostPermits } from '../instructions/lostPermits.js';
import { OrderSettlement } from '../settlement/orderSettlement.js';
import { ByHand, LedgerChanges } from './orderEvents.js';

export async function orderPage(visit: Visit): Promise<Answer> {
  const { account = '', orderNo = '' } = visit.params;
  if (!visit.accounts.includes(account)) return NOT_FOUND;
  const history = await orderHistory(visit.deps.db, account, orderNo, visit.deps.config);
  if (history === null) return NOT_FOUND;
  const { words } = visit;
  const body = (
    <>
      <h1>
        Order {orderNo} <span class="hint">of account {accountWords(visit, account)}</span>
      </h1>
      <Ledger history={history} words={words} />
      <LedgerChanges history={history} words={words} />
      <Breaks history={history} words={words} orderNo={orderNo} />
      <Instructions history={history} words={words} orderNo={orderNo} />
      <LostPermits lost={history.lostPermits} words={words} />
      <ByHand history={history} words={words} />
      {history.settlement === undefined ? null : (
        <OrderSettlement account={account} money={history.settlement} words={words} />
      )}
      <ShownBeside history={history} words={words} />
      <Snapshots history={history} since={await looksSince(visit.deps.db)} words={words} />
    </>
  );
  return { kind: 'page', title: `Order ${orderNo}`, section: '', body };
}

function ShownBeside({ history, words }: { history: OrderHistory; words: Words }) {
  const { shown, refundGaps } = history;
  if ((shown === null || shown.entries.length === 0) && refundGaps.length === 0) return null;
  return (
    <section aria-labelledby="shown">
      <h2 id="shown">What the gateway shows beside it</h2>
      {refundGaps.map((gap) => (
        <p>{gapWords(gap)}</p>
      ))}
      <ShownEntries shown={shown} words={words} />
    </section>
  );
}

type Part = Record<string, unknown>;
type Labelled = Parameters<typeof eventLabels>[0];

function Money(props: { amount: string; currency: string; words: Words }) {
  return <strong class="figure">{props.words.amount(props.amount, props.currency)}</strong>;
}

function Ledger({ history, words }: { history: OrderHistory; words: Words }) {
  const row = history.ledger;
  return (
    <section aria-labelledby="ledger">
      <h2 id="ledger">What the ledger expects</h2>
      {row === null ? (
        <Empty>The ledger has no such order.</Empty>
      ) : (
        <p>
          The order is to be {EXPECTED[text(row.expected)] ?? text(row.expected)}:{' '}
          <Money amount={text(row.amount)} currency={text(row.currency)} words={words} />{' '}
          {text(row.currency)}. Placed {words.at(text(row.placed_at))}
          {ledgerDetails(row)}.
        </p>
      )}
      {history.refundRequests.length === 0 ? null : (
        <Table
          caption="Refund requests"
          columns={[
            { head: 'Refund' },
            { head: 'Amount', isFigure: true },
            { head: 'Requested' },
            { head: 'By' },
            { head: 'Reason' },
          ]}
        >
          {history.refundRequests.map((one) => (
            <tr>
              <th scope="row">{text(one.refund_id)}</th>
              <Figure>{words.amount(text(one.refund_amount), text(row?.currency))}</Figure>
              <td>{words.at(text(one.requested_at))}</td>
              <td>{words.free(text(one.requested_by))}</td>
              <td>{words.free(text(one.reason), [text(one.order_no), text(one.refund_id)])}</td>
            </tr>
          ))}
        </Table>
      )}
      {history.disputes.length === 0 ? null : (
        <ul>
          {history.disputes.map((one) => (
            <li>
              Taken back, or may be:{' '}
              {disputeText({ ...one, amount: words.amount(one.amount, one.currency) })}
              {one.at === null ? '' : `, since ${words.at(one.at)}`}
              {one.problem === null
                ? ''
                : ` (${words.free(one.problem, one.disputeId === null ? [] : [one.disputeId])})`}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What an order is to become, as people say it. */
const EXPECTED: Readonly<Record<string, string>> = {
  authorised: 'reserved at the card (authorised) and not captured yet',
};

function ledgerDetails(row: Part): string {
  const part = row.capture_amount && moneyIn(text(row.capture_amount), text(row.currency));
  return [
    row.transaction_id && `transaction ${text(row.transaction_id)}`,
    part && `of this to be captured ${part}`,
    row.review_decision && `the fraud review decided: ${text(row.review_decision)}`,
  ]
    .filter(Boolean)
    .map((words) => `; ${words}`)
    .join('');
}

function Breaks(props: { history: OrderHistory; words: Words; orderNo: string }) {
  const { history, words, orderNo } = props;
  return (
    <section aria-labelledby="breaks">
      <h2 id="breaks">What differed</h2>
      {history.breaks.length === 0 ? (
        <Empty>Nothing, ever.</Empty>
      ) : (
        history.breaks.map((one) => (
          <>
            <h3>
              {labelOf(text(one.kind))}{' '}
              <State state={one.waiverAskedBy ? 'waiver_asked' : text(one.state)} />
            </h3>
            <p>
              <Said text={labelStates(text(one.sentence))} />. First seen{' '}
              {words.at(text(one.firstSeen))}. {one.owner ? `Owner: ${text(one.owner)}. ` : ''}
              {one.note ? `Note: ${words.free(text(one.note), [orderNo])}` : ''}
            </p>
            <Events
              events={parts(one.events)}
              labels={eventLabels(parts(one.events) as unknown as Labelled)}
              words={words}
              orderNo={orderNo}
            />
          </>
        ))
      )}
    </section>
  );
}

function Instructions(props: { history: OrderHistory; words: Words; orderNo: string }) {
  const { history, words, orderNo } = props;
  return (
    <section aria-labelledby="instructions">
      <h2 id="instructions">What tieout is to do at the gateway, or has done</h2>
      {history.instructions.length === 0 ? (
        <Empty>Nothing: no capture, cancellation, refund or review was planned.</Empty>
      ) : (
        history.instructions.map((one) => (
          <>
            <h3>
              {text(one.operation)} {moneyOf(one)}{' '}
              <State
                state={text(one.state)}
                words={waitingState(text(one.state), text(one.holdReason))}
              />
            </h3>
            <p>{aboutInstruction(one, words, orderNo)}</p>
            <Events
              events={parts(one.events)}
              labels={parts(one.events).map(({ to, reason }) =>
                waitingState(text(to), text(reason)),
              )}
              words={words}
              orderNo={orderNo}
            />
            {(one.decisions as Parameters<typeof Decided>[0]['one'][]).map((decision) => (
              <p>
                Decision: <Decided one={decision} keep={keptOf(one, orderNo)} words={words} />.
              </p>
            ))}
            <Attempts attempts={parts(one.attempts)} words={words} />
          </>
        ))
      )}
    </section>
  );
}

/** Numbers that words about it may name: ids, and never masked. */
function keptOf({ transaction, refundId, gatewayReference, refundReference }: Part, order: string) {
  return [order, ...[transaction, refundId, gatewayReference, refundReference].map(text)];
}

function moneyOf({ amount, currency, isInTotals }: Part): string {
  const money = { amount: text(amount), currency: text(currency) };
  return instructionMoney({ ...money, isInTotals: isInTotals === true });
}

function aboutInstruction(one: Part, words: Words, orderNo: string): string {
  const waits = reasonToWait(text(one.state), text(one.holdReason));
  return [
    `Transaction ${text(one.transaction)}`,
    one.refundId ? `refund ${text(one.refundId)}` : '',
    waits,
    one.gatewayReference ? `gateway reference ${text(one.gatewayReference)}` : '',
    one.refundReference ? `refund reference ${text(one.refundReference)}` : '',
    one.gatewayCode ? `gateway code ${text(one.gatewayCode)}` : '',
    payoutWords((one.payout ?? null) as PayoutAnswer | null),
    one.hintedAt ? hintWords(words.at(text(one.hintedAt))) : '',
    one.gatewayMessage ? `it said: ${words.free(text(one.gatewayMessage), [orderNo])}` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function Events(props: {
  events: readonly Part[];
  /** what each is called, in their order */
  labels: readonly string[];
  words: Words;
  orderNo: string;
}) {
  const { events, labels, words, orderNo } = props;
  return (
    <ol class="timeline">
      {events.map((event, at) => (
        <li>
          <time>{words.at(text(event.at))}</time> {labels[at]} by {text(event.by)}
          {event.reason ? ` (${words.reason(text(event.reason), [orderNo])})` : ''}
        </li>
      ))}
    </ol>
  );
}

function Attempts({ attempts, words }: { attempts: readonly Part[]; words: Words }) {
  if (attempts.length === 0) return null;
  return (
    <Table
      caption="Attempts to send"
      isCaptionSeen
      columns={[{ head: 'Begun' }, { head: 'Outcome' }, { head: 'Answer' }, { head: 'Reason' }]}
    >
      {attempts.map((attempt) => (
        <tr>
          <th scope="row">{words.at(text(attempt.claimedAt))}</th>
          <td>{labelOf(text(attempt.outcome) || 'open')}</td>
          <td>{attempt.answer ? `answered (HTTP ${text(attempt.answer)})` : 'no answer'}</td>
          <td>{words.reason(text(attempt.reason))}</td>
        </tr>
      ))}
    </Table>
  );
}

function Snapshots(props: { history: OrderHistory; since: Date | null; words: Words }) {
  const { history, since, words } = props;
  const looks = history.looks.toReversed();
  return (
    <section aria-labelledby="snapshots">
      <h2 id="snapshots">What the gateway showed</h2>
      {history.removed.map((one) => (
        <p class="hint">{removedLine(one)}.</p>
      ))}
      {since === null ? null : <p class="hint">{searchedLine(words.at(since))}.</p>}
      {looks.length === 0 ? (
        <Empty>
          {history.removed.length === 0
            ? 'The gateway was not asked for this order yet; the next night asks.'
            : 'The gateway was asked for this order, and no answer of that time is kept.'}
        </Empty>
      ) : (
        <Table
          caption="Each time that the gateway was asked, newest first"
          columns={['Checked at', 'Night', 'Answer', 'It showed'].map((head) => ({ head }))}
        >
          {looks.map((snapshot) => (
            <tr>
              <th scope="row">{words.at(text(snapshot.at))}</th>
              <td>
                {text(snapshot.businessDate)}, {lookLabel(text(snapshot.kind))}
              </td>
              <td>{answerText(snapshot)}</td>
              <td>
                {parts(snapshot.entries)
                  .map((entry) => entryText(entry, words))
                  .join('; ') || 'no payment of this order'}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** What was said of the order, and why there is no answer where there is none. */
function answerText({ coverage, answer }: Part): string {
  const said = coverageLabel(coverage as Coverage);
  const [, why] = /^failed: (.*)$/s.exec(text(answer)) ?? [];
  return why === undefined ? said : `${said} (${why})`;
}

function entryText(entry: Part, words: Words): string {
  const state = entry.state ? labelOf(text(entry.state)) : newCode(text(entry.code));
  const money = `${words.amount(text(entry.amount), text(entry.currency))} ${text(entry.currency)}`;
  return `${state} ${money}, transaction ${text(entry.transaction)}`;
}

function newCode(code: string): string {
  return `status code ${code} (its meaning is not set)`;
}

function text(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

function parts(value: unknown): Part[] {
  return Array.isArray(value) ? (value as Part[]) : [];
}
