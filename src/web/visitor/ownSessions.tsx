// Where a person is signed in, to see what is not theirs and to end it. Neighbour: ownPassword.tsx
// puts it on its page and does it.

import type { OpenSession, SessionRow } from '../../access/sessionsStore.js';
import type { Words } from '../format.js';
import { Form, Table } from '../layout/parts.js';

interface OwnSessionsProps {
  csrf: string;
  sessions: readonly OpenSession[];
  /** the one that asks */
  session: SessionRow;
  words: Words;
}

const ACTION = '/password/sessions';
const HEADS = ['Session', 'Began', 'Used last', 'From', 'End it'];

export function OwnSessions({ csrf, sessions, session, words }: OwnSessionsProps) {
  return (
    <>
      <h2>Where you are signed in</h2>
      <Table caption="Sessions" columns={HEADS.map((head) => ({ head }))}>
        {sessions.map(({ mark, createdAt, seenAt, address }) => (
          <tr>
            <th scope="row">
              <code>{mark}</code>
            </th>
            <td>{words.at(createdAt)}</td>
            <td>{words.at(seenAt)}</td>
            <td>{address}</td>
            {mark === session.mark ? (
              <td class="hint">this one: sign out</td>
            ) : (
              <td class="buttons">
                <Form action={ACTION} csrf={csrf}>
                  <input type="hidden" name="session" value={mark} />
                  <button type="submit" class="danger">
                    End<span class="unseen"> session {mark}</span>
                  </button>
                </Form>
              </td>
            )}
          </tr>
        ))}
      </Table>
      {sessions.length > 1 ? (
        <Form action={ACTION} csrf={csrf}>
          <button type="submit" class="danger">
            End all but this one
          </button>
        </Form>
      ) : null}
      <p class="hint">One that you do not know: end it, and choose another password.</p>
    </>
  );
}
