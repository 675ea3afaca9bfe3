// What one press signs of many accounts: a row each, those that it leaves first, then those that
// something speaks against. None is left out: a press signs what was shown. The checklist of each
// is on the page of its day. Neighbour: signAll.tsx has the page and the press.

import { byName } from '../../../core/accounts/alike.js';
import { signedOnWords } from '../../../core/runs/sinceClosed.js';
import type { SignedByPress, SigningVerb } from '../../../days/signDay.js';
import { State, Table } from '../../layout/parts.js';
import { DIFFERS } from './signedFigures.js';
import { Against, dayPath, signAllPath } from './signing.js';

interface OfMany {
  days: readonly SignedByPress[];
  date: string;
  verb: SigningVerb;
}

export function SignMany({ days, date, verb }: OfMany) {
  return (
    <Table
      caption="Accounts: first what the button leaves, then what something speaks against"
      isCaptionSeen
      class="lists rows"
      columns={[
        { head: 'Account' },
        { head: 'The button' },
        { head: 'What speaks against signing' },
      ]}
    >
      {days.toSorted(leftFirst).map((day) => (
        <Row day={day} date={date} verb={verb} />
      ))}
    </Table>
  );
}

function Row({ day, date, verb }: { day: SignedByPress; date: string; verb: SigningVerb }) {
  const { accountId, state, bar, first, changed, signedOn } = day;
  return (
    <tr>
      <th scope="row">
        <a href={dayPath(accountId, date)}>{accountId}</a>{' '}
        {state === 'open' ? null : <State state={state} />}
      </th>
      <td class="words">
        {bar === null ? 'signs it' : `leaves it: ${bar}`}{' '}
        {first === null ? null : <a href={signAllPath(verb, first)}>Sign {first}</a>}
      </td>
      <td class="words">
        <Against date={date} day={day} />
        {changed === null ? null : <strong> Changed since it was closed: {changed}.</strong>}
        {signedOn.length === 0 ? null : (
          <>
            {' '}
            It was {signedOn.map(signedOnWords).join('; it was ')}:{' '}
            <a href={`${dayPath(accountId, date)}#${DIFFERS}`}>what differs</a>.
          </>
        )}
      </td>
    </tr>
  );
}

function leftFirst(one: SignedByPress, other: SignedByPress): number {
  const rank = ({ bar, changed, lines }: SignedByPress) => {
    if (bar !== null) return 0;
    return changed !== null || lines.some(({ isWell }) => !isWell) ? 1 : 2;
  };
  return rank(one) - rank(other) || byName(one.accountId, other.accountId);
}
