// One request over a fresh connection, once, and its answer read. There is no retry, and none may
// be added: the gateway has no key that would tell a repeat.

import type { Account } from '../account.js';
import type { PreparedRequest } from '../wire/requests.js';
import { answerOf, type UnknownOutcome } from '../wire/wholeAnswer.js';
import type { MoneyConnect, MoneyPost } from './moneyTransport.js';
import type { RawAnswer } from './transport.js';

/**
 * Asked when the connection stands: throws where nothing may be sent. What it answers is asked once
 * more in the tick of the first byte.
 */
type MayPost = () => Promise<() => boolean>;

/** Sends one prepared request over a fresh connection, once. */
export type PostOnce = (
  account: Account,
  request: Pick<PreparedRequest, 'path' | 'contentType' | 'headers' | 'body'>,
  mayPost?: MayPost,
) => Promise<MoneyPost>;

const ALWAYS: MayPost = async () => () => true;

export function postOnceOver(
  connect: (account: Account) => Promise<MoneyConnect>,
  deadlineMs: number,
): PostOnce {
  return async (account, { path, contentType, headers: own, body }, mayPost = ALWAYS) => {
    const opened = await connect(account);
    if (opened.kind === 'not_sent') return opened;
    const { connection } = opened;
    try {
      const mayWrite = await mayPost();
      const headers = { ...own, 'content-type': contentType };
      return await connection.post({ path, headers, body, deadlineMs, mayWrite });
    } finally {
      connection.close();
    }
  };
}

export async function callOnce<Outcome>(
  post: PostOnce,
  account: Account,
  sent: PreparedRequest,
  read: (sent: PreparedRequest, answer: RawAnswer) => Outcome,
): Promise<Outcome | UnknownOutcome | { kind: 'not_sent'; reason: string }> {
  const answer = answerOf(await post(account, sent));
  return answer.kind === 'answered' ? read(sent, answer) : answer;
}
