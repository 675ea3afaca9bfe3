// What happened at the console's doors, for a collector of logs and a watcher outside: who came in,
// who was kept out, who may do what from now on, that sending goes on again. Pure; the record of
// the console is access/sessionsStore.ts, what is told is written by outbox/writeAlerts.ts. The
// name that a stranger typed is told nowhere: it may be a password in the wrong field.

import type { Alert } from './alertMessages.js';
import { oneLine } from './log.js';

/** As it is recorded. */
export interface ConsoleEvent {
  who: string;
  action: string;
  accountId?: string | null;
  subject?: string;
  outcome: string;
  address: string;
}

type SecurityWhat =
  | 'signed_in'
  | 'sign_in_refused'
  | 'locked_out'
  | 'password_chosen'
  | 'people_changed'
  | 'sending_resumed'
  | 'form_refused';

export interface SecurityEvent {
  what: SecurityWhat;
  /** a person known to the console or the machine; null: a stranger */
  who: string | null;
  address: string;
  accountId: string | null;
  /** in words, of whom or what */
  about: string;
}

const PEOPLE = ['add person', 'give role', 'take role', 'set state', 'make link'];
const TEXT_LENGTH = 500;
/** What a stranger can bring about as often as he likes is told so often at most. */
const THROTTLED: readonly SecurityWhat[] = ['sign_in_refused', 'locked_out', 'form_refused'];

export function isThrottled({ what }: SecurityEvent): boolean {
  return THROTTLED.includes(what);
}

/** Null: nothing that a watcher of security waits for. */
export function securityOf(event: ConsoleEvent): SecurityEvent | null {
  const { who, action, outcome, address, subject = '', accountId = null } = event;
  const known = { who, address, accountId };
  if (action === 'sign in' || action === 'give password again') {
    const what = SIGN_IN[outcome];
    // Who gives the password again is signed in, so that the name is no typed one.
    const name = outcome === 'known' || action !== 'sign in' ? who : null;
    return what === undefined ? null : { ...known, who: name, what, about: action };
  }
  if (action === 'choose password') return { ...known, what: 'password_chosen', about: action };
  if (PEOPLE.includes(action)) {
    return { ...known, what: 'people_changed', about: `${action}: ${subject}, ${outcome}` };
  }
  if (action === 'resume sending' && outcome !== NOTHING_LIFTED) {
    return { ...known, what: 'sending_resumed', about: outcome };
  }
  return null;
}

const NOTHING_LIFTED = '0 lifted';
const SIGN_IN: Readonly<Record<string, SecurityWhat>> = {
  known: 'signed_in',
  refused: 'sign_in_refused',
  tooMany: 'locked_out',
};

const WORDS: Readonly<Record<SecurityWhat, string>> = {
  signed_in: 'signed in to the console',
  sign_in_refused: 'was refused at the console: name and password did not fit together',
  locked_out: 'has to wait before another try to sign in',
  password_chosen: 'chose a password',
  people_changed: 'changed who may use the console',
  sending_resumed: 'let sending go on again',
  form_refused: 'sent a form or asked for a page that was refused',
};

export function securitySentence({ what, who, address, accountId, about }: SecurityEvent): string {
  const of = accountId === null ? '' : `, account ${accountId}`;
  return oneLine(
    `${who ?? 'somebody'} ${WORDS[what]} (${about}${of}), from ${address}`,
    TEXT_LENGTH,
  );
}

export function securityAlert(event: SecurityEvent): Alert {
  const { what, who, address, accountId, about } = event;
  return {
    event: 'security',
    subject: what,
    text: `${securitySentence(event)}.`,
    details: { what, who, address, accountId, about: oneLine(about, TEXT_LENGTH) },
  };
}
