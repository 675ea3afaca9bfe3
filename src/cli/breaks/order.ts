// `tieout order ACCOUNT ORDER_NO`: one order's whole history, for support, controller and auditor
// alike.

import { Command } from 'commander';
import type { BreakEvent } from '../../breaks/breaksStore.js';
import { type Side, shownFields } from '../../core/breaks/sentence.js';
import { UsageError } from '../../core/errors.js';
import { nameLabel } from '../../core/instructions/decider.js';
import { hintWords } from '../../core/instructions/hints.js';
import { holdLabel, waitingState } from '../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../core/instructions/instruction.js';
import { type PayoutAnswer, payoutWords } from '../../core/instructions/payoutAnswer.js';
import { gapWords } from '../../core/instructions/refundOrdinals.js';
import { type Coverage, coverageLabel } from '../../core/orders/coverage.js';
import { removedLine, searchedLine } from '../../core/runs/removal.js';
import { amountIn, moneyIn } from '../../core/text/amounts.js';
import { disputeText, labelOf, labelStates, stateLabel } from '../../core/text/labels.js';
import type { OrderHistory } from '../../orders/historyStore.js';
import { looksSince, orderHistory } from '../../orders/historyStore.js';
import { calledByHand, changeWords, historyMoney } from '../../orders/orderEventWords.js';
import type { OrderMoney } from '../../orders/orderMoneyStore.js';
import { amountWords, matchWords, settledWords } from '../../orders/orderMoneyWords.js';
import { shownLines } from '../../orders/shownRecord.js';
import { removals } from '../../runs/runRecordStore.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { lostLine } from '../instructions/instructionText.js';
import type { Line, Part as TextPart } from '../terminal.js';
import { columns, stateWord } from '../terminal.js';
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
): Line[] {
  const currency = history.ledger === null ? null : String(history.ledger.currency);
  return [
    `Order ${orderNo} of account ${account}`,
    '',
    'Ledger',
    history.ledger ? `  ${ledgerText(history.ledger)}` : '  has no such order',
    ...table(
      history.refundRequests.map((one) => [
        `refund ${one.refund_id}`,
        moneyOf({ amount: one.refund_amount, currency }),
        `requested ${one.requested_at}`,
        one.reason ? `(${one.reason})` : '',
      ]),
      [1],
    ),
    ...history.disputes.map(disputeLine),
    ...history.ledgerChanges.map(changeLine),
    '',
    'Looks',
    ...history.removed.map((one) => `  ${removedLine(one)}`),
    ...(since === null ? [] : [`  ${searchedLine(since.toISOString())}`]),
    ...orNone(snapshotLines(history.looks)),
    '',
    'Breaks',
    ...orNone(breakLines(history.breaks)),
    '',
    'Instructions',
    ...orNone(instructionLines(history.instructions)),
    ...history.lostPermits.map(lostLine),
    ...history.refundGaps.map((gap) => `  ${gapWords(gap)}`),
    ...shownBeside(history.shown),
    ...(history.settlement === undefined ? [] : moneyLines(history.settlement)),
    ...(history.calls.length === 0 ? [] : ['', 'By hand', ...callLines(history.calls)]),
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

function moneyOf({ amount, currency }: Part): string {
  return historyMoney(amount, currency);
}

function disputeLine(one: OrderHistory['disputes'][number]): string {
  const problem = one.problem === null ? '' : ` (${one.problem})`;
  return `  ${disputeText(one)}, since ${one.at ?? 'an unknown time'}${problem}`;
}

function changeLine(change: Part): string {
  const seen = change.kind === 'left' ? '' : 'seen changed: ';
  return `  ${change.at}  ${seen}${changeWords(change)}`;
}

function snapshotLines(looks: readonly Part[]): Line[] {
  const heads = table(
    looks.map((look) => {
      const said = coverageLabel(look.coverage as Coverage);
      const why = String(look.answer).startsWith('failed') ? ` (${look.answer})` : '';
      return [String(look.at), `${look.kind} look of ${look.businessDate}`, `${said}${why}`];
    }),
  );
  const entries = looks.map((look) => look.entries as Part[]);
  const shown = table(
    entries
      .flat()
      .map((entry) => [
        entry.state ? labelOf(String(entry.state)) : `code ${entry.code}`,
        moneyOf(entry),
        `transaction ${entry.transaction}`,
        `dated ${entry.date}`,
      ]),
    [1],
    '    ',
  );
  return under(
    heads,
    entries.map(({ length }) => shown.splice(0, length)),
  );
}

function breakLines(breaks: readonly Part[]): Line[] {
  const heads = table(
    breaks.map((one) => {
      const state = one.waiverAskedBy ? 'waiver_asked' : String(one.state);
      return [
        `#${one.id}`,
        labelOf(String(one.kind)),
        stateWord(state, stateLabel(state)),
        one.owner === null ? '' : `with ${one.owner}`,
        `first seen ${one.firstSeen}: ${labelStates(String(one.sentence))}`,
      ];
    }),
  );
  return under(heads, breaks.map(breakDetails));
}

function breakDetails(one: Part): Line[] {
  const { expected, actual } = one as { expected: Side; actual: Side };
  const differing = shownFields(expected, actual).filter(({ differs }) => differs);
  return [
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

/** Movements of money that a person made at the gateway, beside the run. */
function callLines(calls: OrderHistory['calls']): Line[] {
  const rows = calledByHand(calls).map(({ at, operation, money, by, end }) => {
    return [at, operation, money, `by ${by}: ${end}`];
  });
  return table(rows, [2]);
}

function moneyLines({ movements, lines }: OrderMoney): Line[] {
  const moved = movements.map((one) => [
    one.businessDate,
    one.kind,
    amountWords(one),
    one.made === 'here' ? `by instruction #${one.instructionId}` : 'elsewhere',
    `transaction ${one.transaction}: ${settledWords(one)}`,
  ]);
  const settled = lines.map((line) => {
    const shown = (amount: string): string => amountIn(amount, line.settleCurrency);
    return [
      line.bookedAt,
      `batch ${line.batch}, line ${line.line}`,
      labelOf(line.type),
      moneyIn(line.gross, line.settleCurrency),
      `fee ${shown(line.fee)}`,
      `net ${shown(line.net)}`,
      matchWords(line),
    ];
  });
  return [
    ...['', 'Movements', ...orNone(table(moved, [2]))],
    ...['', 'Settlement lines', ...orNone(table(settled, [3, 4, 5]))],
  ];
}

function instructionLines(instructions: readonly Part[]): Line[] {
  const heads = table(
    instructions.map((one) => {
      const moved = { amount: String(one.amount), currency: String(one.currency) };
      const reason = one.holdReason ? String(one.holdReason) : null;
      const state = String(one.state);
      return [
        `#${one.id}`,
        stateWord(state, waitingState(state, reason)),
        [one.operation, one.refundId].filter(Boolean).join(' '),
        instructionMoney({ ...moved, isInTotals: one.isInTotals === true }),
        [
          reason === null ? '' : holdLabel(reason),
          one.gatewayReference ? `gateway reference ${one.gatewayReference}` : '',
        ]
          .filter((part) => part !== '')
          .join('; '),
      ];
    }),
    [3],
  );
  return under(heads, instructions.map(instructionDetails));
}

function instructionDetails(one: Part): Line[] {
  return [
    ...(one.refundReference ? [`    refund reference ${one.refundReference}`] : []),
    ...(one.payout ? [`    ${payoutWords(one.payout as PayoutAnswer)}`] : []),
    ...(one.hintedAt ? [`    ${hintWords(String(one.hintedAt))}`] : []),
    ...inOrder([
      ...(one.decisions as Part[]).map(decisionLine),
      ...((one.events as Part[] | null) ?? []).map((event) => {
        const state = waitingState(String(event.to), event.reason ? String(event.reason) : null);
        return `    ${event.at}  ${state} by ${event.by}${reasonOf(event)}`;
      }),
      ...(one.attempts as Part[]).map(
        (attempt) =>
          `    ${attempt.claimedAt}  attempt ${attempt.id}: ${attempt.outcome ?? 'open'}` +
          `${attempt.answer ? `, HTTP ${attempt.answer}` : ''}${reasonOf(attempt)}`,
      ),
    ]),
  ];
}

/** Rows whose columns stand under each other, further in than their heading. */
function table(
  rows: readonly (readonly TextPart[])[],
  figures: readonly number[] = [],
  indent = '  ',
): Line[] {
  return columns(rows, figures).map((line) => [indent, line].flat());
}

/** Each head with its own lines under it. */
function under(heads: readonly Line[], details: readonly (readonly Line[])[]): Line[] {
  return heads.flatMap((head, at) => [head, ...(details[at] ?? [])]);
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

function orNone(lines: Line[]): Line[] {
  return lines.length > 0 ? lines : ['  none'];
}
