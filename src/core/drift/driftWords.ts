// What changed in the gateway's answers, in words for a run's notices. Pure.

import { oneLine } from '../log.js';
import type { Notice } from '../runs/notices.js';
import { countText, moreOf } from '../text/amounts.js';
import type { FieldChange } from './drift.js';

/** Answers of one kind, of one account, that have other fields than before. */
export interface AnswerDrift {
  accountId: string;
  /** query, or the operation of a batch */
  answer: string;
  changes: FieldChange[];
}

/** Answers of one kind, of one account, of which nobody could say whether they changed. */
export interface UnseenDrift {
  accountId: string;
  answer: string;
  reason: string;
}

/** A sentence with more is not read any more; the JSON has them all. */
const NAMED_MAX = 8;

/** One notice for all that changed in answers of one kind. */
export function driftNotice({ accountId, answer, changes }: AnswerDrift): Notice {
  const named = changes.slice(0, NAMED_MAX).map(changeText);
  const names = changes.flatMap(({ samples }) => samples.flatMap(({ orderNo }) => orderNo ?? []));
  return {
    accountId,
    kind: 'answer_changed',
    about: `the answer to a ${answer} changed`,
    text:
      `the acquirer has changed what it answers to a ${answer}: ` +
      `${[...named, ...moreOf(changes.length - named.length)].join('; ')}. ` +
      'Ask what it means before money is decided on it; it is told once',
    ...(names.length === 0 ? {} : { names: [...new Set(names)] }),
  };
}

const REASON_CHARS_MAX = 200;

/** The night goes on without it: it changes no verdict. */
export function unseenDriftNotice({ accountId, answer, reason }: UnseenDrift): Notice {
  return {
    accountId,
    kind: 'answer_changed',
    about: `whether the answer to a ${answer} changed is not known`,
    text:
      `whether the acquirer has changed what it answers to a ${answer} could not be found out: ` +
      `${oneLine(reason, REASON_CHARS_MAX)}. No figure depends on it; the next night looks again`,
  };
}

function changeText({ path, change, before, now, seen, of, samples }: FieldChange): string {
  const such = samples
    .slice(0, 1)
    .map(({ orderNo, shape }) => `, such as ${shape}${orderNo === null ? '' : ` of ${orderNo}`}`);
  switch (change) {
    case 'vanished':
      return `${path} was always there (${before.join(', ')}) and is in none of ${of}`;
    case 'appeared':
      return `${path} is new (${now.join(', ')}), in ${countText(seen)} of ${countText(of)}${such}`;
    case 'type':
      return `${path} was ${before.join(' or ')} and is now also ${now.join(', ')}${such}`;
    case 'returned':
      return `${path} is back, in ${seen} of ${of}`;
  }
}
