// `tieout order ACCOUNT ORDER_NO`: one order's whole history, for support, controller and auditor
// alike.

import { Command } from 'commander';
import type { BreakEvent } from '../../breaks/breaksStore.js';
import { type Side, shownFields } from '../../core/breaks/sentence.js';
import { UsageError } from '../../core/errors.js';
import { nameLabel } from '../../core/instructions/decider.js';
import { hintWords } from '../../core/instructions/hints.js';
import { holdLabel } from '../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../core/instructions/instruction.js';
import { type PayoutAnswer, payoutWords } from '../../core/instructions/payoutAnswer.js';
import { gapWords } from '../../core/instructions/refundOrdinals.js';
import { type Coverage, coverageLabel } from '../../core/orders/coverage.js';
import type { BreakKind } from '../../core/orders/verdict.js';
import { removedLine, searchedLine } from '../../core/runs/removal.js';
import { amountIn, moneyIn } from '../../core/text/amounts.js';
import { disputeText, labelOf, labelStates, stateLabel } from '../../core/text/labels.js';
import type { OrderHistory } from '../../orders/historyStore.js';
import { looksSince, orderHistory } from '../../orders/historyStore.js';
import type { OrderMoney } from '../../orders/orderMoneyStore.js';
import { amountWords, matchWords, settledWords } from '../../orders/orderMoneyWords.js';
import { shownLines } from '../../orders/shownRecord.js';
import { removals } from '../../retention/retentionStore.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { lifeTexts } from './breaksText.js';

export function orderCommand(): Command {
  return new Command('order')
    .argument('<account>')
    .argument('<order_no>')
    .option('--json', 'print one JSON document')
    .action(async (account: string, orderNo: string, _flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const history = await orderHistory(app.db, account, orderNo, app.config);
          if (history === null) {
            throw new UsageError(
              `neither the ledger nor any look knows order ${orderNo} of account ${account}` +
                notSearched(app.config.gateway.profile.query.select) +
                (await removals(app.db)).map((one) => `. ${removedLine(one)}`).join(''),
            );
          }
          if (wantsJson(command)) printJson({ account, orderNo, ...history });
          else printLines(historyLines(account, orderNo, history, await looksSince(app.db)));
          return 0;
        },
        { quiet: true },
      );
    });
}

/** Not found is not the same as not looked. */
function notSearched(select: string): string {
  if (select !== 'order_list') return '';
  return (
    '; the gateway is asked by number and not searched for what the ledger does not have: ' +
    '`tieout gateway query` asks for one'
  );
}

type Part = Record<string, unknown>;
/** As JSON brings it: the time is text. */
type EventPart = Omit<BreakEvent, 'at'> & { at: string };

function historyLines(
  account: string,
  orderNo: string,
  history: OrderHistory,
  since: Date | null,
): string[] {
  const currency = history.ledger === null ? null : String(history.ledger.currency);
  return [
    `Order ${orderNo} of account ${account}`,
    '',
    'Ledger',
    history.ledger ? `  ${ledgerText(history.ledger)}` : '  has no such order',
    ...history.refundRequests.map(
      (one) =>
        `  refund ${one.refund_id}: ${moneyIn(String(one.refund_amount), currency)}, ` +
        `requested ${one.requested_at}` +
        `${one.reason ? ` (${one.reason})` : ''}`,
    ),
    ...history.disputes.map(disputeLine),
    ...history.ledgerChanges.map(changeLine),
    '',
    'Looks',
    ...history.removed.map((one) => `  ${removedLine(one)}`),
    ...(since === null ? [] : [`  ${searchedLine(since.toISOString())}`]),
    ...orNone(history.looks.flatMap(snapshotLines)),
    '',
    'Breaks',
    ...orNone(history.breaks.flatMap(breakLines)),
    '',
    'Instructions',
    ...orNone(history.instructions.flatMap(instructionLines)),
    ...history.refundGaps.map((gap) => `  ${gapWords(gap)}`),
    ...shownBeside(history.shown),
    ...(history.settlement === undefined ? [] : moneyLines(history.settlement)),
    ...(history.calls.length === 0 ? [] : ['', 'By hand', ...history.calls.flatMap(callLines)]),
  ];
}

function shownBeside(shown: OrderHistory['shown']): string[] {
  if (shown === null || shown.entries.length === 0) return [];
  return [
    '',
    `Shown beside it, at ${shown.at}`,
    ...shown.entries.flatMap((entry) => [
      `  transaction ${entry.transaction ?? '(none)'}`,
      ...shownLines(entry).map((line) => `    ${line}`),
    ]),
  ];
}

function ledgerText(row: Part): string {
  const capture = row.capture_amount && moneyIn(String(row.capture_amount), String(row.currency));
  return [
    `expects ${row.expected} ${moneyOf(row)}`,
    `placed ${row.placed_at}`,
    row.transaction_id && `transaction ${row.transaction_id}`,
    capture && `to capture ${capture}`,
    row.review_decision && `review decision ${row.review_decision}`,
    row.updated_at && `last changed ${row.updated_at}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** As it was said, where it is no amount. */
function moneyOf({ amount, currency }: Part): string {
  return amount === null
    ? 'no amount'
    : moneyIn(String(amount), currency ? String(currency) : null);
}

function disputeLine(one: OrderHistory['disputes'][number]): string {
  const problem = one.problem === null ? '' : ` (${one.problem})`;
  return `  ${disputeText(one)}, since ${one.at ?? 'an unknown time'}${problem}`;
}

function changeLine(change: Part): string {
  const before = change.before as Part;
  const after = (change.after ?? {}) as Part;
  if (change.kind === 'left') return `  ${change.at}  left the ledger`;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const parts = names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name} ${before[name] ?? 'none'} → ${after[name] ?? 'none'}`);
  return `  ${change.at}  seen changed: ${parts.join(', ')}`;
}

function snapshotLines(snapshot: Part): string[] {
  const said = coverageLabel(snapshot.coverage as Coverage);
  const why = String(snapshot.answer).startsWith('failed') ? ` (${snapshot.answer})` : '';
  const entries = snapshot.entries as Part[];
  return [
    `  ${snapshot.at}  ${snapshot.kind} look of ${snapshot.businessDate}: ${said}${why}`,
    ...entries.map(
      (entry) =>
        `    ${entry.state ? labelOf(String(entry.state)) : `code ${entry.code}`} ` +
        `${moneyOf(entry)}, transaction ${entry.transaction}, dated ${entry.date}`,
    ),
  ];
}

function breakLines(one: Part): string[] {
  const { expected, actual, kind } = one as { expected: Side; actual: Side; kind: BreakKind };
  const sentence = labelStates(String(one.sentence));
  const differing = shownFields(expected, actual).filter(({ differs }) => differs);
  const whose = one.owner === null ? '' : `, with ${one.owner}`;
  const state = stateLabel(one.waiverAskedBy ? 'waiver_asked' : String(one.state));
  return [
    `  #${one.id} ${labelOf(kind)} (${state}${whose}), ` +
      `first seen ${one.firstSeen}: ${sentence}`,
    ...(one.note === null ? [] : [`    note: ${one.note}`]),
    ...differing.map(
      (pair) =>
        `    ${pair.field}: the ledger has ${pair.expected ?? 'none'}, ` +
        `the gateway ${pair.actual ?? 'none'}`,
    ),
    ...lifeTexts(
      ((one.events as EventPart[] | null) ?? []).map((event) => {
        return { ...event, at: new Date(event.at) };
      }),
    ).map((line) => `    ${line}`),
  ];
}

/** A movement of money that a person made at the gateway, beside the run. */
function callLines(call: Part): string[] {
  const end = call.outcome ?? 'its end is not known';
  const claim = call.isClaim ? ' (claimed)' : '';
  return ((call.entries as Part[] | null) ?? []).map((entry) => {
    const amount = String(entry.refund_amount ?? entry.amount ?? '');
    const money = moneyIn(amount, entry.currency ? String(entry.currency) : null);
    const words = `${call.operation} ${money}`.trim();
    return `  ${call.at}  ${words} by ${call.by}${claim}: ${end}${reasonOf(call)}`;
  });
}

function moneyLines({ movements, lines }: OrderMoney): string[] {
  const moved = movements.map((one) => {
    const whose = one.made === 'here' ? `by instruction #${one.instructionId}` : 'elsewhere';
    return (
      `  ${one.businessDate}  ${one.kind} ${amountWords(one)} ${whose}, ` +
      `transaction ${one.transaction}: ${settledWords(one)}`
    );
  });
  const settled = lines.map((line) => {
    const match = matchWords(line);
    const shown = (amount: string): string => amountIn(amount, line.settleCurrency);
    return (
      `  ${line.bookedAt}  batch ${line.batch}, line ${line.line}: ${labelOf(line.type)} ` +
      `${moneyIn(line.gross, line.settleCurrency)}, fee ${shown(line.fee)}, ` +
      `net ${shown(line.net)}` +
      `${match === '' ? '' : `; ${match}`}`
    );
  });
  return ['', 'Movements', ...orNone(moved), '', 'Settlement lines', ...orNone(settled)];
}

function instructionLines(one: Part): string[] {
  const refund = one.refundId ? ` ${one.refundId}` : '';
  const moved = { amount: String(one.amount), currency: String(one.currency) };
  const money = instructionMoney({ ...moved, isInTotals: one.isInTotals === true });
  return [
    `  #${one.id} ${one.operation}${refund} ${money} (${labelOf(String(one.state))})` +
      `${one.holdReason ? `, waits: ${holdLabel(String(one.holdReason))}` : ''}` +
      `${one.gatewayReference ? `, gateway reference ${one.gatewayReference}` : ''}`,
    ...(one.refundReference ? [`    refund reference ${one.refundReference}`] : []),
    ...(one.payout ? [`    ${payoutWords(one.payout as PayoutAnswer)}`] : []),
    ...(one.hintedAt ? [`    ${hintWords(String(one.hintedAt))}`] : []),
    ...inOrder([
      ...(one.decisions as Part[]).map(decisionLine),
      ...((one.events as Part[] | null) ?? []).map(
        (event) => `    ${event.at}  ${event.to} by ${event.by}${reasonOf(event)}`,
      ),
      ...(one.attempts as Part[]).map(
        (attempt) =>
          `    ${attempt.claimedAt}  attempt ${attempt.id}: ${attempt.outcome ?? 'open'}` +
          `${attempt.answer ? `, HTTP ${attempt.answer}` : ''}${reasonOf(attempt)}`,
      ),
    ]),
  ];
}

/** By the time that each line begins with, in UTC; its zone would sort a whole second last. */
function inOrder(lines: readonly string[]): string[] {
  const timeOf = (line: string): string => line.trimStart().replace(/\+00:00 .*$/s, '');
  return lines.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
}

function decisionLine(one: Part): string {
  const by = nameLabel(String(one.by), one.isClaim === true);
  const parts = [one.finding, one.reason, one.reference].filter((part) => part !== null);
  const why = parts.length === 0 ? '' : `: ${parts.join('; ')}`;
  const seen = String(one.seenSha256).slice(0, 12);
  return `    ${one.at}  decision: ${one.decision} by ${by}, who saw ${seen}${why}`;
}

function reasonOf(part: Part): string {
  return part.reason ? ` (${labelStates(holdLabel(String(part.reason)))})` : '';
}

function orNone(lines: string[]): string[] {
  return lines.length > 0 ? lines : ['  none'];
}
