// What the codes of the gateway's entries make a person be told: a code that is new, a subscription
// that ended. Pure.

import { oneLine } from '../log.js';
import { countText, moneyIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';
import { isStandIn } from '../text/otherType.js';
import type { Notice } from './notices.js';

export interface NewCodeFacts {
  accountId: string;
  field: string;
  word: string;
  meaning: string | null;
  entries: number;
  money: Readonly<Record<string, string>>;
  samples: readonly string[];
}

/** What becomes of the orders of a code that nobody knows; of a subscription's, nothing. */
const THEN: Readonly<Record<string, string>> = {
  payment_status: ': no money moves on it, and its orders stop',
  query_result: ': its orders are not compared',
  recurring_status: '',
};
/** Of an answer to what was sent, unless it bears the document's sign of a refusal. */
const TILL_SEEN = ': it is no acceptance, and what became of each is what the gateway shows of it';

/** A code is the gateway's own text, whatever it sends there. */
const WORD_LENGTH = 100;

/**
 * A code for the first time. One without a meaning stops its orders, and only those; of one that
 * has a meaning nobody has to do anything.
 */
export function codeNotice(word: NewCodeFacts): Notice {
  const { accountId, field, meaning, samples: names } = word;
  const money = Object.entries(word.money).map(([currency, amount]) => moneyIn(amount, currency));
  const seen = `${countText(word.entries)} ${word.entries === 1 ? 'entry' : 'entries'}`;
  const whole = [seen, ...money].join(', ');
  const samples = names.length === 0 ? '' : ` (such as ${names.join(', ')})`;
  const about = `${field} ${oneLine(word.word, WORD_LENGTH)}`;
  if (meaning !== null) {
    const text = `status code seen for the first time, ${about}: ${whole}${samples}; it means `;
    return { accountId, kind: 'first_seen_word', about, text: text + labelOf(meaning), names };
  }
  const has = isStandIn(word.word)
    ? 'is no text, and has no meaning'
    : 'has no meaning in the profile';
  const meant = `it ${has}${THEN[field] ?? TILL_SEEN}`;
  const text = `new status code of the gateway, ${about}: ${whole}${samples}; ${meant}`;
  return { accountId, kind: 'new_word', about, text, names };
}

export interface EndedSubscriptions {
  accountId: string;
  subscriptions: number;
  /** order numbers, a few */
  samples: readonly string[];
}

/** Told by the first night that sees it: who ships or bills by the subscription has to know. */
export function endedNotice({ accountId, subscriptions, samples }: EndedSubscriptions): Notice {
  const ended = `${subscriptions} ${subscriptions === 1 ? 'subscription' : 'subscriptions'} ended`;
  const more = subscriptions > samples.length ? ' and others' : '';
  const [first = ''] = samples;
  return {
    accountId,
    kind: 'subscription_ended',
    about: `${ended} (${accountId})`,
    text:
      `${ended} since the look before, of order ${samples.join(', ')}${more}: ` +
      `\`tieout order ${accountId} ${first}\` shows the contract`,
    names: samples,
  };
}
