// Instructions as a person reads them on a terminal: a list, one sheet, verdicts on decisions. Text
// from outside is masked before it comes here or right here; nothing is decided.

import { nameLabel } from '../../core/instructions/decider.js';
import { isUndecided } from '../../core/instructions/decision.js';
import { hintWords } from '../../core/instructions/hints.js';
import { holdLabel, holdLabels, waitingState } from '../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../core/instructions/instruction.js';
import { payoutWords } from '../../core/instructions/payoutAnswer.js';
import type { AskedPayout, Payee } from '../../core/instructions/payouts/payoutAsked.js';
import {
  accountWords,
  beneficiaryWords,
  leavingWords,
  newPayeeWords,
} from '../../core/instructions/payouts/payoutAsked.js';
import { amountIn, asWritten, counted, countText, moneyIn } from '../../core/text/amounts.js';
import { disputeText, labelOf, labelStates } from '../../core/text/labels.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import { DAY_MS } from '../../core/time.js';
import type { Decision, DecisionVerdict } from '../../instructions/decisions.js';
import type { DecidableInstruction, Seen, SeenDispute } from '../../instructions/decisionsStore.js';
import type {
  InstructionSheet,
  ListedInstruction,
  LostPermit,
  SheetAttempt,
  SheetDecision,
  SheetSnapshot,
} from '../../instructions/instructionListStore.js';
import type { Sheet } from '../../instructions/instructionSheet.js';
import { idsOf, maskedSeen } from '../../instructions/instructionSheet.js';
import type { Line } from '../terminal.js';
import { columns, stateWord } from '../terminal.js';

const DIGEST_SHOWN = 12;

type Ids = Pick<ListedInstruction, 'orderNo' | 'transactionId' | 'refundId'>;

function idsOfRow({ orderNo, transactionId, refundId }: Ids): string[] {
  return [orderNo, transactionId, ...(refundId === null ? [] : [refundId])];
}

const seenOf = (one: DecidableInstruction): Seen => maskedSeen(one.seen, idsOfRow(one));

const MONEY_COLUMN = 3;

export function listLines(rows: readonly ListedInstruction[], now: Date): Line[] {
  if (rows.length === 0) return ['No instruction matches.'];
  const cells = rows.map((row) => {
    const what = [row.operation, row.refundId, row.reviewDecision].filter(Boolean).join(' ');
    const days = Math.floor((now.getTime() - Date.parse(row.since)) / DAY_MS);
    // Many things may be wrong with such a request: which it is stands beside it.
    const more = row.holdReason === 'invalid_payout' && row.reason ? `: ${row.reason}` : '';
    const why = row.holdReason === null ? row.reason : `${holdLabel(row.holdReason)}${more}`;
    const notes = [
      `${days} d`,
      why === null ? null : maskCardNumbers(labelStates(why), idsOfRow(row)),
      row.askedBy.length === 0 ? null : `asked by ${maskCardNumbers(row.askedBy.join(', '))}`,
      row.isReplanned ? 'to be planned again' : null,
    ].filter((note) => note !== null);
    return [
      `#${row.id}`,
      stateWord(row.state, waitingState(row.state, row.holdReason)),
      what,
      instructionMoney(row),
      row.accountId,
      row.orderNo,
      notes.join('; '),
    ];
  });
  return columns(cells, [MONEY_COLUMN]);
}

export function sheetLines(sheet: Sheet): Line[] {
  return [
    `Instruction ${sheet.id}: ${whatOf(sheet)} of order ${sheet.orderNo}, ` +
      `account ${sheet.accountId}`,
    ['  state ', stateWord(sheet.state, waitingState(sheet.state, sheet.holdReason)), whyOf(sheet)],
    ...(sheet.refundReference === null
      ? []
      : [`  refund   the gateway's reference ${sheet.refundReference}`]),
    ...(sheet.payout === null ? [] : [`  gateway  ${payoutWords(sheet.payout)}`]),
    ...(sheet.hintedAt === null ? [] : [`  hint     ${hintWords(sheet.hintedAt)}`]),
    `  planned by the night of ${sheet.businessDate}, transaction ${sheet.transactionId}`,
    ...(sheet.askedBy.length > 0
      ? [`  asked by ${maskCardNumbers(sheet.askedBy.join(', '))}`]
      : []),
    ...(sheet.approval ? [`  ${approvalText(sheet.approval, sheet.state)}`] : []),
    '',
    `What a decision is bound to (${sheet.seenSha256.slice(0, DIGEST_SHOWN)})`,
    ...seenLines(sheet.seen, sheet.payee),
    ...sheet.lostPermits.map(lostLine),
    '',
    'Decisions',
    ...orNone(sheet.decisions.flatMap(decisionLines)),
    '',
    'What happened',
    ...sheet.events.map(({ at, to, by, reason }) => {
      const why =
        reason === null ? '' : maskCardNumbers(labelStates(holdLabel(reason)), idsOf(sheet));
      return `  ${at}  ${waitingState(to, reason)} by ${by}${why === '' ? '' : ` (${why})`}`;
    }),
    ...sentLines(sheet),
    ...portalLines(sheet),
    ...(sheet.evidence.length > 0
      ? ['', 'What a search for this refund brought (no proof by itself)']
      : []),
    ...sheet.evidence.map((one): Line => {
      const http = one.httpStatus === null ? one.outcome : `HTTP ${one.httpStatus}`;
      const said = { text: one.body ?? one.reason ?? '', isVerbatim: true };
      return [`  ${one.at}  ${http}: `, said];
    }),
    ...(sheet.commands.length > 0 ? ['', 'What you can do'] : []),
    ...sheet.commands.map((command) => `  ${command}`),
  ];
}

function whatOf(sheet: Sheet): string {
  return [sheet.operation, sheet.refundId, sheet.reviewDecision, moneyOf(sheet)]
    .filter((part) => part !== null)
    .join(' ');
}

function whyOf(sheet: InstructionSheet): string {
  if (sheet.holdReason !== null) return `: ${holdLabels(sheet.holdReason, sheet.thenHeldFor)}`;
  return sheet.reason === null ? '' : `: ${labelStates(sheet.reason)}`;
}

function approvalText(
  { by, at, expiresAt, lapse }: NonNullable<InstructionSheet['approval']>,
  state: string,
): string {
  if (!isUndecided(state)) return `approved by ${by} at ${at}`;
  const holds = lapse === null ? `holds until ${expiresAt}` : holdLabel(lapse);
  return `approved by ${by} at ${at}; ${holds}`;
}

/** What was seen, so that nobody has to guess what a decision rests on. */
function seenLines(seen: Seen, payee: Payee | null = null): string[] {
  const { ledger } = seen;
  if (seen.payout !== undefined) return payoutLines(seen.payout, payee);
  return [
    ledger === null
      ? '  ledger   has no such order'
      : `  ledger   expects ${ledger.expected} ${shownMoney(ledger.amount, ledger.currency)}` +
        `${captureText(ledger)}` +
        `${ledger.reviewDecision === null ? '' : `, review decision ${ledger.reviewDecision}`}`,
    ...(seen.refundRequests ?? []).map(
      (one) =>
        `  request  ${one.refundId} ${moneyIn(one.amount, ledger?.currency)}, ` +
        `by ${one.requestedBy ?? 'nobody named'}${one.reason === null ? '' : `: ${one.reason}`}`,
    ),
    ...(seen.gateway ?? []).map(
      (entry) =>
        `  gateway  ${stateOf(entry)} ` +
        `${shownMoney(entry.amount, entry.currency)}, ` +
        `transaction ${entry.transaction}${entry.fraudRejected ? ', fraud check REJECT' : ''}`,
    ),
    ...(seen.gateway === null ? ['  gateway  was not seen to have it'] : []),
    ...(seen.disputes ?? []).map((one) => `  taken back  ${disputeText(one)}${sinceText(one)}`),
    ...(seen.byHand ?? []).map(
      (one) =>
        `  by hand  ${one.operation} ${shownMoney(one.amount, one.currency)}, ` +
        `by ${one.by} on ${one.at.slice(0, 10)}`,
    ),
  ];
}

function captureText({ captureAmount, currency }: NonNullable<Seen['ledger']>): string {
  return captureAmount === null ? '' : `, to capture ${amountIn(captureAmount, currency)}`;
}

function shownMoney(amount: string | null, currency: string | null): string {
  return amount === null ? 'no amount' : moneyIn(amount, currency);
}

function moneyOf(sheet: Sheet): string {
  return instructionMoney(sheet, sheet.seen.payout?.amount);
}

function sinceText({ at }: SeenDispute): string {
  return at === null ? '' : `, since ${at.slice(0, 10)}`;
}

/** With the whole account where it is decided about; of a decision that was taken its end. */
function payoutLines(payout: AskedPayout | null, payee: Payee | null): string[] {
  if (payout === null) return ['  ledger   has no such request any more'];
  const whom = beneficiaryWords(payout) || 'a beneficiary without a name';
  const what = [payout.reference, payout.reason].filter((part) => part !== null).join(', ');
  const account = [accountWords(payout, payee), newPayeeWords(payee?.isKnown)];
  const leaving = leavingWords(payout);
  const digest = payout.sha256.slice(0, DIGEST_SHOWN);
  return [
    `  ledger   asks for ${asWritten(payout.amount, payout.currency)} to ${whom}` +
      `${what === '' ? '' : ` (${what})`}, payload ${digest}`,
    ...(account[0] === '' ? [] : [`  account  ${account.filter((one) => one !== '').join('; ')}`]),
    ...(leaving === null ? [] : [`  leaves   our account: ${leaving}`]),
  ];
}

function decisionLines(one: SheetDecision): string[] {
  const by = nameLabel(one.by, one.isClaim);
  const what = one.finding === null ? one.decision : `${one.decision} ${one.finding}`;
  const words = [one.reason, one.reference === null ? null : `reference ${one.reference}`];
  const said = words.filter((word) => word !== null).join('; ');
  return [
    `  ${one.at}  ${what} by ${by}${said === '' ? '' : `: ${said}`}`,
    `    saw (${one.seenSha256.slice(0, DIGEST_SHOWN)})`,
    ...seenLines(one.seen).map((line) => `    ${line}`),
  ];
}

/** What a database that was put back has forgotten, to be looked up in the portal by amount. */
export function lostLine(lost: LostPermit): string {
  const { accountId, operation, refundId, amount, money, currency, transactionId } = lost;
  const sum = money === null ? [amount, currency] : [money, currency, `(typed as ${amount})`];
  const what = [operation, refundId, ...sum].filter((part) => part !== null).join(' ');
  const of = transactionId === null ? '' : `, transaction ${transactionId}`;
  const sent = `of account ${accountId}, at ${lost.sentAt} by ${lost.host}`;
  return `  perhaps sent  ${what}${of}, ${sent}, and forgotten by the database`;
}

/** Attempts, answers and looks. */
function sentLines(sheet: Sheet): Line[] {
  if (sheet.attempts.length === 0) return [];
  return [
    '',
    'Sent',
    ...sheet.attempts.flatMap((attempt) => attemptLines(attempt)),
    `  gateway before: ${snapshotText(sheet.stateBefore)}`,
    `  gateway after:  ${snapshotText(sheet.stateAfter)}`,
  ];
}

/** Of what is unknown, what to search for in the portal. */
function portalLines(sheet: Sheet): Line[] {
  if (sheet.state !== 'unknown') return [];
  const { window, tag, nextReference } = sheet;
  return [
    '',
    'What to look for in the merchant portal',
    `  transaction ${sheet.transactionId}, order ${sheet.orderNo}, ${moneyOf(sheet)}`,
    ...(window === null ? [] : [`  between ${window.from} and ${window.until ?? 'now'}`]),
    ...(tag === null ? [] : [`  ${tag} in the reason of the refund`]),
    ...(nextReference === null
      ? []
      : [
          `  a refund reference ${nextReference} or above; known to be ours: ` +
            `${sheet.references.join(', ') || 'none'}`,
        ]),
  ];
}

function attemptLines(attempt: SheetAttempt): Line[] {
  const { answer } = attempt;
  const reason = attempt.reason === null ? '' : ` (${attempt.reason})`;
  const others = attempt.entries === 1 ? 'alone' : `with ${attempt.entries - 1} others`;
  return [
    `  ${attempt.claimedAt}  attempt ${attempt.id}, ${others}: ` +
      `${attempt.outcome ?? 'under way'}${reason}`,
    ...(attempt.request === null
      ? []
      : [{ text: `    sent: ${attempt.request}`, isVerbatim: true }]),
    ...(answer === null
      ? ['    no answer is on record']
      : [
          `    ${answer.receivedAt}  HTTP ${answer.status}, ${answer.bytes} bytes:`,
          ...answer.body.split('\n').map((line) => ({ text: `      ${line}`, isVerbatim: true })),
        ]),
  ];
}

function stateOf({ state, code }: { state: string | null; code: string | null }): string {
  return state === null ? `code ${code}` : labelOf(state);
}

function snapshotText(snapshot: SheetSnapshot | null): string {
  if (snapshot === null) return 'no complete look';
  const entries = snapshot.entries.map(
    (entry) =>
      `${stateOf(entry)} ${shownMoney(entry.amount, entry.currency)} ` + `(${entry.transaction})`,
  );
  return `${entries.join(', ') || 'no such order'}, checked at ${snapshot.at}`;
}

export function verdictLines(
  rows: readonly DecisionVerdict[],
  decision: Decision,
  isCheck: boolean,
): string[] {
  const lines = rows.flatMap((row) => {
    if (row.kind === 'not_found') return [`#${row.instructionId}  refused: ${row.words}`];
    const one = row.instruction;
    const head = `#${one.instructionId}  ${shortText(one)}`;
    if (row.kind === 'refused') return [`${head}  refused: ${row.words}`];
    // What is approved is printed with it: that and nothing else was approved.
    const seen = decision.kind === 'approve' ? seenLines(seenOf(one), one.payee) : [];
    const digest = decision.kind === 'approve' ? ` (${one.seenSha256.slice(0, DIGEST_SHOWN)})` : '';
    return [`${head}  ${row.becomes}${digest}: ${row.words}`, ...seen.map((line) => `  ${line}`)];
  });
  const done = rows.filter((row) => row.kind === 'done').length;
  const would = isCheck ? ' would be decided; nothing was written' : ' decided';
  return [...lines, `${countText(done)} of ${counted(rows.length, 'instruction')}${would}`];
}

function shortText(one: DecidableInstruction): string {
  const what = [one.operation, one.refundId, one.reviewDecision].filter((part) => part !== null);
  const money = instructionMoney(one, one.seen.payout?.amount);
  return `${what.join(' ')} ${money}  ${one.accountId} ${one.orderNo}`;
}

export function verdictJson(row: DecisionVerdict): object {
  if (row.kind === 'not_found') {
    return { id: row.instructionId, kind: row.kind, words: row.words };
  }
  const { instruction: one, words } = row;
  const about = {
    id: one.instructionId,
    accountId: one.accountId,
    orderNo: one.orderNo,
    operation: one.operation,
    amount: one.refundAmount ?? one.amount,
    currency: one.currency,
    state: one.state,
    seenSha256: one.seenSha256,
    seen: seenOf(one),
  };
  return row.kind === 'done'
    ? { ...about, kind: row.kind, becomes: row.becomes, words }
    : { ...about, kind: row.kind, why: row.why, words };
}

function orNone(lines: Line[]): Line[] {
  return lines.length > 0 ? lines : ['  none'];
}
