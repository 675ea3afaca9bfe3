// The two boxes of a statement, prepared and reviewed: who signed, when, on which revision.

import type { ComponentChildren } from 'preact';
import { isSamePerson, nameLabel } from '../../../core/instructions/decider.js';
import type { WrittenStatement } from '../../../report/statementStore.js';
import type { Words } from '../../format.js';

export type Signed = WrittenStatement['signed'];

const BOXES = [
  { event: 'closed', words: 'Prepared: day closed' },
  { event: 'locked', words: 'Reviewed: day locked' },
] as const;

export function SignedBoxes(props: {
  signed: Signed;
  words: Words;
  /** what stands in a box that nobody signed */
  notYet: ComponentChildren;
}) {
  const { signed, words, notYet } = props;
  const [closed, locked] = BOXES.map(({ event }) => signed.findLast((one) => one.event === event));
  const isOnePerson = closed && locked && isSamePerson(closed.by, locked.by);
  return (
    <>
      <ul class="boxes">
        {BOXES.map(({ event, words: what }) => {
          const found = signed.findLast((one) => one.event === event);
          return (
            <li>
              {what}{' '}
              {found === undefined
                ? notYet
                : `by ${nameLabel(found.by, found.isClaim)} at ${words.at(found.at)}, on ` +
                  (found.revision === null ? 'no revision' : `revision ${found.revision}`)}
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
