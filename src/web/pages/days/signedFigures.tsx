// What the newest revision of the workbook says otherwise than a revision on which the day is
// signed: figure by figure, as both were written. Nothing where they say the same.

import type { FigureChange, SignedOn } from '../../../core/runs/sinceClosed.js';
import { signedOnWords } from '../../../core/runs/sinceClosed.js';
import type { Words } from '../../format.js';
import { Figure, Table } from '../../layout/parts.js';

/** Where the page of a day tells it. */
export const DIFFERS = 'differs';

const TITLE = 'What differs from the figures that were signed';

interface OfDay {
  signedOn: readonly SignedOn[];
  words: Words;
  /** beside other accounts; absent: on the page of the day, where links lead to it */
  isOneOfMany?: true;
}

export function SignedFigures({ signedOn, words, isOneOfMany }: OfDay) {
  if (signedOn.length === 0) return null;
  return (
    <section aria-label={TITLE}>
      {isOneOfMany ? <h3>{TITLE}</h3> : <h2 id={DIFFERS}>{TITLE}</h2>}
      {signedOn.map((one) => (
        <>
          <p>This day was {signedOnWords(one)}.</p>
          {(one.pages ?? []).map(({ currency, changes }) => (
            <Table
              caption={`Revision ${one.revision} and revision ${one.newest} in ${currency}`}
              isCaptionSeen
              columns={[
                { head: 'What' },
                { head: 'Figure' },
                { head: `Revision ${one.revision}`, isFigure: true },
                { head: `Revision ${one.newest}`, isFigure: true },
                { head: 'Difference', isFigure: true },
              ]}
            >
              {changes.map((change) => (
                <Change change={change} one={one} currency={currency} words={words} />
              ))}
            </Table>
          ))}
        </>
      ))}
    </section>
  );
}

function Change(props: { change: FigureChange; one: SignedOn; currency: string; words: Words }) {
  const { change, one, currency, words } = props;
  const { what, figure, signed, newest, difference } = change;
  const shown = (value: string | null): string => {
    if (value === null) return 'none';
    if (figure === 'From') return value;
    return figure === 'Lines' ? words.count(Number(value)) : words.amount(value, currency);
  };
  return (
    <tr>
      <th scope="row" class="words">
        {what}
      </th>
      <td data-name="Figure">{figure}</td>
      <Figure name={`Revision ${one.revision}`}>{shown(signed)}</Figure>
      <Figure name={`Revision ${one.newest}`}>{shown(newest)}</Figure>
      <Figure name="Difference">{difference === null ? '' : shown(difference)}</Figure>
    </tr>
  );
}
