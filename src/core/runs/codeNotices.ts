// What the codes of the gateway's entries make a person be told: a code that is new, a subscription
// that ended. Pure.

import { oneLine } from '../log.js';
import { countText, moneyIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';
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

/** The one code that no decision about money asks for. */
const OF_SUBSCRIPTIONS = 'recurring_status';
const STOPS = ': no money moves on it, and its orders stop';

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
  const meant = `it has no meaning in the profile${field === OF_SUBSCRIPTIONS ? '' : STOPS}`;
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
