// The two boxes of a statement, prepared and reviewed: who signed, when, on which revision.

import type { ComponentChildren } from 'preact';
import { isSamePerson } from '../../../core/instructions/decider.js';
import { SIGNING_BOXES, signingWords } from '../../../core/runs/businessDay.js';
import type { WrittenStatement } from '../../../report/statementStore.js';
import type { Words } from '../../format.js';
import type { Visit } from '../../visit.js';
import { dayPath } from './signing.js';

export type Signed = WrittenStatement['signed'];

/** Leads to the day; of an account that left the configuration none is signed any more. */
export function NotSigned(props: { visit: Visit; accountId: string; date: string }) {
  const { visit, accountId, date } = props;
  const isSigned = visit.deps.accountIds.includes(accountId);
  return <a href={dayPath(accountId, date)}>{isSigned ? 'not yet' : 'not signed'}</a>;
}

export function SignedBoxes(props: {
  signed: Signed;
  words: Words;
  /** what stands in a box that nobody signed */
  notYet: ComponentChildren;
}) {
  const { signed, words, notYet } = props;
  const [closed, locked] = SIGNING_BOXES.map(({ event }) =>
    signed.findLast((one) => one.event === event),
  );
  const isOnePerson = closed && locked && isSamePerson(closed.by, locked.by);
  return (
    <>
      <ul class="boxes">
        {SIGNING_BOXES.map(({ event, box, what }) => {
          const found = signed.findLast((one) => one.event === event);
          return (
            <li>
              {box}: {what} {found === undefined ? notYet : signingWords(found, words.at(found.at))}
            </li>
          );
        })}
      </ul>
      {isOnePerson ? (
        <p class="hint">
          The same person prepared and reviewed: a second one is asked for only where{' '}
          <code>days.secondPerson</code> says so.
        </p>
      ) : null}
    </>
  );
}
