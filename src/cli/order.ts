// `tieout order ACCOUNT ORDER_NO`: one order's whole story, for support, controller and auditor
// alike.

import { Command } from 'commander';
import { UsageError } from '../core/errors.js';
import { breakSentence } from '../core/sentence.js';
import type { OrderStory } from '../store/story.js';
import { orderStory } from '../store/story.js';
import { printJson, printLines, wantsJson, withApp } from './context.js';

export function orderCommand(): Command {
  return new Command('order')
    .argument('<account>')
    .argument('<order_no>')
    .option('--json', 'print one JSON document')
    .action(async (account: string, orderNo: string, _flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const story = await orderStory(app.db, account, orderNo);
          if (story === null) {
            throw new UsageError(
              `neither the ledger nor any look knows order ${orderNo} of account ${account}`,
            );
          }
          if (wantsJson(command)) printJson({ account, orderNo, ...story });
          else printLines(storyLines(account, orderNo, story));
          return 0;
        },
        { quiet: true },
      );
    });
}

type Part = Record<string, unknown>;

function storyLines(account: string, orderNo: string, story: OrderStory): string[] {
  return [
    `Order ${orderNo} of account ${account}`,
    '',
    'Ledger',
    story.ledger ? `  ${ledgerText(story.ledger)}` : '  has no such order',
    ...story.refundRequests.map(
      (one) =>
        `  refund ${one.refund_id}: ${one.refund_amount}, requested ${one.requested_at}` +
        `${one.reason ? ` (${one.reason})` : ''}`,
    ),
    '',
    'Looks',
    ...orNone(story.looks.flatMap(lookLines)),
    '',
    'Breaks',
    ...orNone(story.breaks.flatMap(breakLines)),
    '',
    'Instructions',
    ...orNone(story.instructions.flatMap(instructionLines)),
  ];
}

function ledgerText(row: Part): string {
  const extras = ['transaction_id', 'capture_amount', 'review_decision', 'updated_at']
    .filter((key) => row[key] !== null)
    .map((key) => `${key} ${row[key]}`);
  return [`expects ${row.expected} ${row.amount} ${row.currency}, placed ${row.placed_at}`]
    .concat(extras)
    .join(', ');
}

function lookLines(look: Part): string[] {
  const head = `  ${look.at}  ${look.kind} look of ${look.businessDate}: ${look.answer}`;
  const entries = look.entries as Part[];
  if (entries.length === 0) return [look.answer === 'answered' ? `${head}, no such order` : head];
  return [
    head,
    ...entries.map(
      (entry) =>
        `    ${entry.state ?? `code ${entry.code}`} ${entry.amount} ${entry.currency}, ` +
        `transaction ${entry.transaction}, dated ${entry.date}`,
    ),
  ];
}

function breakLines(one: Part): string[] {
  const sentence = breakSentence(one.kind as never, one.expected as never, one.actual as never);
  return [
    `  ${one.kind} (${one.state}), first seen ${one.firstSeen}: ${sentence}`,
    ...((one.events as Part[] | null) ?? []).map(
      (event) => `    ${event.at}  ${event.event} by ${event.by}${reasonOf(event)}`,
    ),
  ];
}

function instructionLines(one: Part): string[] {
  return [
    `  ${one.operation} ${one.amount} ${one.currency} (${one.state})` +
      `${one.holdReason ? `, waits: ${one.holdReason}` : ''}` +
      `${one.gatewayReference ? `, gateway reference ${one.gatewayReference}` : ''}`,
    ...((one.events as Part[] | null) ?? []).map(
      (event) => `    ${event.at}  ${event.to} by ${event.by}${reasonOf(event)}`,
    ),
    ...(one.attempts as Part[]).map(
      (attempt) =>
        `    ${attempt.claimedAt}  attempt ${attempt.id}: ${attempt.outcome ?? 'open'}` +
        `${attempt.answer ? `, HTTP ${attempt.answer}` : ''}${reasonOf(attempt)}`,
    ),
  ];
}

function reasonOf(part: Part): string {
  return part.reason ? ` (${part.reason})` : '';
}

function orNone(lines: string[]): string[] {
  return lines.length > 0 ? lines : ['  none'];
}
