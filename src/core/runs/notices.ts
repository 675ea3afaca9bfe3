// What a person has to be told about a run beside its figures: a ledger that is not known to be
// whole, a new code of the gateway, orders that left the ledger, what stops the sending. Pure: the
// words for what the store found.

import { SENDING_STOPPED, WHO_SENDS } from '../instructions/breaker.js';
import { oneLine } from '../log.js';
import { counted, countText, moneyIn } from '../text/amounts.js';

export interface Notice {
  accountId: string;
  kind:
    | 'ledger_feed'
    /** a code of the gateway without a meaning, and one that has a meaning */
    | 'new_word'
    | 'first_seen_word'
    | 'subscription_ended'
    | 'answer_changed'
    | 'left_ledger'
    | 'withdrawn_late'
    | 'not_sent'
    | 'shared_transaction'
    | 'odd_refund'
    | 'refunded_by_hand'
    | 'captured_by_hand'
    | 'refund_waits'
    | 'strange_account'
    | 'strange_orders'
    | 'settlement_not_kept'
    | 'unusable_rows'
    | 'ledger_zone'
    | 'unreadable_entry'
    | 'no_history'
    | 'no_orders'
    | 'newly_freed'
    | 'now_history'
    | 'left_account'
    | 'not_finished'
    | 'live_from_ahead'
    | 'not_answered'
    | 'payout_pending'
    | 'payouts_left_out'
    | 'payout_changed'
    | 'answered_late'
    | 'payout_by_hand'
    | 'paid_by_hand'
    | 'unexplained';
  text: string;
  /** what it is about, short enough for a sentence */
  about: string;
  /** Instructions that it keeps back. */
  instructions?: number;
  /** A stop that a person has to know of, with what to type: the end of the sentence. */
  standing?: string;
  /** Orders and transactions that the text names: masking leaves them alone. */
  names?: readonly string[];
}

/** Nothing is sent of an account that may have been paid before: no approval helps. */
export function noHistoryNotice(block: { accountId: string; instructions: number }): Notice {
  const { accountId, instructions } = block;
  return {
    accountId,
    kind: 'no_history',
    about: `this database knows no earlier run of ${accountId}`,
    instructions,
    standing:
      `${SENDING_STOPPED} for account ${accountId}: restore the database, or set liveFrom ` +
      'anew if it is a new installation',
    text:
      noHistorySentence(accountId) +
      (instructions === 0
        ? ''
        : `; ${instructionsAre(instructions)} kept back, and no approval helps`),
  };
}

export function noHistorySentence(accountId: string): string {
  return (
    `nothing is sent. This database knows no earlier run of ${accountId}, yet its liveFrom is ` +
    'more than 3 days ago; a lost or new database would pay everything again. Restore the ' +
    'database, or, if this is a new installation, set liveFrom to the time from which tieout is ' +
    'to act (within the last 3 days): requests older than it count as done'
  );
}

function instructionsAre(instructions: number): string {
  return `${countText(instructions)} ${instructions === 1 ? 'instruction is' : 'instructions are'}`;
}

/** A run without a single order ties, and is worth nothing. */
export function noOrdersNotice(accountId: string): Notice {
  return {
    accountId,
    kind: 'no_orders',
    about: `not a single order of ${accountId} in the ledger`,
    text:
      'the ledger has not a single order of this account, so nothing was compared: were the ' +
      `orders imported, and with account_id ${accountId}? (\`tieout import orders FILE\`)`,
  };
}

export interface FeedGapFacts {
  accountId: string;
  businessDate: string;
  currency: string;
  verdict: 'absent' | 'unfinished' | 'different';
  statedCount: number | null;
  statedAmount: string | null;
  ledgerCount: number;
  ledgerAmount: string;
}

/** Why the ledger of a date may be stale: it never ties, whatever was compared. */
export function feedNotice(gap: FeedGapFacts): Notice {
  const about = `the ledger of ${gap.accountId} for ${gap.businessDate}`;
  return { accountId: gap.accountId, kind: 'ledger_feed', about, text: `${about} ${gapText(gap)}` };
}

function gapText(gap: FeedGapFacts): string {
  const held = `${countText(gap.ledgerCount)} orders, ${moneyIn(gap.ledgerAmount, gap.currency)}`;
  const stated = gap.statedCount === null ? 'no number of' : countText(gap.statedCount);
  switch (gap.verdict) {
    case 'absent':
      return gap.currency === ''
        ? 'is not known to be whole: ledger.control_totals states nothing of this date'
        : `is not known to be whole: it holds ${held}, and ledger.control_totals states none`;
    case 'unfinished':
      return `is not complete yet: its control total in ${gap.currency} is not finished`;
    case 'different':
      return (
        `is not whole: its feed states ${stated} orders, ` +
        `${gap.statedAmount === null ? 'no amount' : moneyIn(gap.statedAmount, gap.currency)}, ` +
        `the ledger holds ${held}`
      );
  }
}

/**
 * Orders that the ledger had at the snapshot before; with an entry at the gateway they are breaks.
 */
export function leftNotice(left: {
  accountId: string;
  left: number;
  sample: string | null;
}): Notice {
  const orders = counted(left.left, 'order');
  const sample = left.sample === null ? '' : `, such as ${left.sample}`;
  const text =
    `${orders} left the ledger since the look before${sample}: those that the gateway has ` +
    'are breaks (missing_in_ledger), the others are gone on both sides';
  const names = left.sample === null ? [] : [left.sample];
  return { accountId: left.accountId, kind: 'left_ledger', about: `${orders} left`, text, names };
}

/** What stops the sending of an account, and how much waits for it. */
export function notSentNotice(stop: {
  accountId: string;
  reason: string;
  instructions: number;
  standing?: string;
}): Notice {
  const { accountId, reason, instructions, standing } = stop;
  const waits =
    instructions === 0
      ? 'nothing waits for it now'
      : `${counted(instructions, 'instruction')} ${instructions === 1 ? 'waits' : 'wait'}`;
  const isSaid = reason.startsWith(SENDING_STOPPED);
  const text = `${isSaid ? '' : `${SENDING_STOPPED}: `}${reason}; ${waits}`;
  // What comes behind a colon or in parentheses are particulars; of a failure, what comes after it.
  const about = /^(tieout failed: )?.*?(?=[:(]| since |$)/.exec(reason)?.[0].trim() ?? reason;
  return { accountId, kind: 'not_sent', about, text, ...(standing && { standing }) };
}

/** Nothing stops these: they were approved after the run, or the run ended before their turn. */
export function notYetSentNotice(waits: { accountId: string; instructions: number }): Notice {
  const { accountId, instructions } = waits;
  const wait = instructions === 1 ? '1 instruction waits' : `${instructions} instructions wait`;
  const about = `${wait} to be sent`;
  const text = `${about}: nothing stops them; ${WHO_SENDS}`;
  return { accountId, kind: 'not_sent', about, text };
}

export interface SharedTransactionFacts {
  accountId: string;
  orders: number;
  sample: string;
  other: string;
  transactionId: string;
}

/** A transaction moves once: who comes second waits until somebody looks. */
export function sharedNotice(shared: SharedTransactionFacts): Notice {
  const { accountId, orders, sample, other, transactionId } = shared;
  const which =
    orders === 1 ? `order ${sample} waits` : `${countText(orders)} orders wait, such as ${sample},`;
  const text =
    `${which} for ever: the gateway shows its transaction ${transactionId} under order ${other} ` +
    'as well, where it was used';
  const names = [sample, other, transactionId];
  return {
    accountId,
    kind: 'shared_transaction',
    about: `transaction ${transactionId}`,
    text,
    names,
  };
}

export interface OddRefundFacts {
  accountId: string;
  orderNo: string;
  instructionId: bigint;
  reference: string;
  /** another refund bears the same reference */
  isTwice: boolean;
  /** refunds that the ledger asks for, of the order */
  requests: number;
  /** refunds of its transaction that were made here, or perhaps were, up to this one */
  known: number;
  /** of the account that are not told, said with the last that is */
  more: number;
}

/**
 * Two refunds, or one that happened twice, look alike in a snapshot: the gateway's count does not.
 */
export function oddRefundNotice(odd: OddRefundFacts): Notice {
  const { accountId, orderNo, instructionId, reference, isTwice, requests, known, more } = odd;
  const few = Math.min(requests, known);
  const are = few === 1 ? 'refund is' : 'refunds are';
  // With fewer asked for than known, the ledger is what is exceeded.
  const what = requests <= known ? `${are} asked for` : `${are} known of its transaction`;
  const why = isTwice
    ? 'as it called another one: did it happen at all?'
    : `though only ${few} ${what}: did somebody else refund, or did one happen twice?`;
  const called = `refund ${instructionId} of order ${orderNo} is called ${reference}`;
  const text = `${called}, ${why}${moreOrders(more)}`;
  const names = [orderNo, reference];
  return { accountId, kind: 'odd_refund', about: `refund ${reference}`, text, names };
}

/** Behind the last that is named. */
export function moreOrders(more: number): string {
  return more === 0 ? '' : `. And ${counted(more, 'more order')} of the account like this one`;
}

/** What a changed setting has freed, and waits until somebody has seen it. */
export function freedNotice(freed: {
  accountId: string;
  setting: string;
  instructions: number;
}): Notice {
  const { accountId, setting, instructions } = freed;
  const waits =
    instructions === 1 ? '1 instruction waits' : `${countText(instructions)} instructions wait`;
  const since = `since a setting was changed (${setting}), whatever it says today`;
  const text = `${waits} for a person, ${since}`;
  return { accountId, kind: 'newly_freed', about: setting, text };
}

export interface LeftAccountFacts {
  accountId: string;
  /** unfinished instructions by state */
  states: Readonly<Record<string, number>>;
  breaks: number;
}

/** An account that left the configuration takes nothing along that is not finished. */
export function leftAccountNotice({ accountId, states, breaks }: LeftAccountFacts): Notice {
  const parts = Object.entries(states)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([state, count]) =>
        `${countText(count)} ${state} ${count === 1 ? 'instruction' : 'instructions'}`,
    );
  const ways = [
    ...(parts.length === 0
      ? []
      : [`\`tieout instructions list --account ${accountId}\`, then \`resolve\` or \`reject\``]),
    ...(breaks === 0 ? [] : [`\`tieout breaks list --account ${accountId}\`, then \`waive\``]),
  ];
  if (breaks > 0) parts.push(`${countText(breaks)} open ${breaks === 1 ? 'break' : 'breaks'}`);
  const text =
    `the account is not in the configuration any more and is not finished: ${parts.join(', ')}. ` +
    'No night looks at its orders. Put it back under accounts (without liveFrom it is only ' +
    `observed), or settle each: ${ways.join('; ')}`;
  const about = `account ${accountId} left the configuration with ${parts.join(', ')}`;
  return { accountId, kind: 'left_account', about, text };
}

/** An earlier try of the date took it up and ended before it was done; this one left it out. */
export function notFinishedNotice(accountId: string, businessDate: string): Notice {
  const text =
    'an earlier try of this night began with the account and did not come to its end, and this ' +
    `one was of other accounts alone. To finish it: \`tieout run --date ${businessDate}\``;
  return { accountId, kind: 'not_finished', about: `account ${accountId} is not finished`, text };
}

export interface UnusableRows {
  relation: string;
  /** empty: they name no account either */
  accountId: string;
  rows: number;
  sample: string;
}

/** Rows that name no order, request or account: nobody can be asked about them. */
export function unusableRowsNotice(unusable: UnusableRows): Notice {
  const { relation, rows, sample } = unusable;
  const accountId = unusable.accountId || '(none)';
  const count = `${countText(rows)} ${rows === 1 ? 'row' : 'rows'}`;
  const about = `${count} of ledger.${relation} without a number or account`;
  const such = sample === '' ? '' : `, such as ${sample}`;
  const text =
    `${count} of ledger.${relation} that no number and account tells apart (missing, or too long)` +
    `${such}: left out, and nothing is done about it. Correct the ledger`;
  return { accountId, kind: 'unusable_rows', about, text, names: [sample] };
}

export interface FailedPagesFacts {
  accountId: string;
  businessDate: string;
  /** of the first look, and the orders on them */
  pages: number;
  orders: number;
  /** the same of the looks after sending */
  later?: { pages: number; orders: number };
  /** why, the most frequent first; every reason once */
  reasons: readonly string[];
}

/** Reasons named in one notice; pages of one snapshot mostly fail for the same. */
const PAGE_REASONS_MAX = 3;
const PAGE_REASON_LENGTH = 200;
const SHORT_REASON_LENGTH = 120;
const GATEWAY_SAID = /^the gateway answered return_status /;

/** A page that failed is a run that is not whole: whoever is called has to know why. */
export function notAnsweredNotice(failed: FailedPagesFacts): Notice {
  const { accountId, businessDate, pages, later = { pages: 0, orders: 0 } } = failed;
  const named = failed.reasons.slice(0, PAGE_REASONS_MAX);
  const reasons = named.map((reason) => oneLine(reason, PAGE_REASON_LENGTH));
  const rest = failed.reasons.length - named.length;
  const why = [...reasons, ...(rest > 0 ? [`${rest} more reasons`] : [])].join('; ');
  const asked = [
    ...(pages === 0 ? [] : [pagesAsked(failed, '')]),
    ...(later.pages === 0 ? [] : [pagesAsked(later, ' of the look after sending')]),
  ];
  const unsaid = [
    ...(pages === 0 ? [] : ['Nothing is said of what stands there. ']),
    ...(later.pages === 0 ? [] : ['What became of what was sent there is not shown yet. ']),
  ];
  const text =
    `${asked.join(', and ')}: ${why}. ${unsaid.join('')}` +
    `When the gateway is well: \`tieout run --date ${businessDate}\``;
  const short = [...new Set(reasons.map(shortReason))].join('; ');
  return { accountId, kind: 'not_answered', about: short, text };
}

function pagesAsked({ pages, orders }: { pages: number; orders: number }, of: string): string {
  const were = pages === 1 ? 'was' : 'were';
  return `${counted(pages, 'page')}${of} ${were} not answered, with ${counted(orders, 'order')}`;
}

/** What comes behind a colon are particulars, but for what the gateway says: the only clue. */
function shortReason(reason: string): string {
  const [first = reason] = reason.split(': ');
  return GATEWAY_SAID.test(first) ? oneLine(reason, SHORT_REASON_LENGTH) : first;
}
