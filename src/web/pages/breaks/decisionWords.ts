// What a decision over many breaks is called, on its page, its button and in the record of what was
// done: other words where all of it are waivers that wait for their second person.

export const SET_VERBS = ['assign', 'waive', 'reopen'] as const;
export type SetVerb = (typeof SET_VERBS)[number];

interface DecisionWords {
  link: string;
  title: string;
  /** of those that were ticked */
  picked: string;
  button: string;
  record: string;
}

const WORDS: Readonly<Record<SetVerb, DecisionWords>> = {
  assign: {
    link: 'assign all',
    title: 'Assign all that match',
    picked: 'Assign what was picked',
    button: 'assign',
    record: 'assign all breaks that match',
  },
  waive: {
    link: 'waive all',
    title: 'Waive all that match',
    picked: 'Waive what was picked',
    button: 'waive',
    record: 'waive all breaks that match',
  },
  reopen: {
    link: 'reopen all',
    title: 'Reopen all that match, refuse waivers that wait',
    picked: 'Reopen what was picked',
    button: 'reopen',
    record: 'reopen all breaks that match',
  },
};

/** Where all of it are waivers that wait for their second person. */
const TRAY_WORDS: Readonly<Record<SetVerb, DecisionWords>> = {
  assign: WORDS.assign,
  waive: {
    link: 'agree to all',
    title: 'Agree to all waivers that match',
    picked: 'Agree to the waivers that were picked',
    button: 'agree to',
    record: 'agree to all waivers that match',
  },
  reopen: {
    link: 'refuse all',
    title: 'Refuse all waivers that match',
    picked: 'Refuse the waivers that were picked',
    button: 'refuse',
    record: 'refuse all waivers that match',
  },
};

/** What a decision is called wherever it is named: a waiver that is refused reopens nothing. */
export function decisionWords(verb: SetVerb, isOfWaivers: boolean): DecisionWords {
  return (isOfWaivers ? TRAY_WORDS : WORDS)[verb];
}

/** Whether all that changed, or would change, are waivers that are refused. */
export function onlyRefusesWaivers(kinds: Iterable<string>): boolean {
  const changed = [...kinds].filter((kind) => kind !== 'refused' && kind !== 'unchanged');
  return changed.length > 0 && changed.every((kind) => kind === 'waiver_refused');
}
