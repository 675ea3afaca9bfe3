// Asks the gateway about orders: one request of at most a hundred (document, "Limits"). How orders
// are named in it is not shown, so it follows the profile's `query`. Retries, pages and permits
// are the caller's. Neighbours: transport carries, decode reads.

import type { Account } from '../account.js';
import { QUERY_PATH } from '../document/messages.js';
import type { Profile } from '../document/profile.js';
import type { QueryTransport } from '../transport/transport.js';
import { encodeMessage } from '../wire/encode.js';
import { type SignedMessage, signMessage } from '../wire/sign.js';
import { decodeQueryAnswer, type QueryEntry } from './decode.js';
import { type QuerySelection, selectionFields } from './querySelection.js';

export type QueryResult =
  | { kind: 'page'; entries: QueryEntry[]; unreadable?: number[]; body: Buffer }
  | {
      kind: 'failed';
      reason: string;
      /** As the transport has them. */
      reachable: boolean;
      isSilent?: true;
      /** What the gateway said, where it said anything; for keeping. */
      body: Buffer | null;
    };

interface QueryDeps {
  profile: Profile;
  transport: QueryTransport;
}

/** One request, however it names its orders. */
export async function query(
  deps: QueryDeps,
  account: Account,
  selection: QuerySelection,
): Promise<QueryResult> {
  const fields = selectionFields(deps.profile, selection);
  const { message, headers } = queryMessage(deps.profile, account, fields);
  const { contentType, body } = encodeMessage(deps.profile.bodies, 'retrievalTrans', message);
  const answer = await deps.transport.post({ path: QUERY_PATH, contentType, headers, body });
  if (answer.kind === 'failed') return { ...answer, body: null };
  const page = decodeQueryAnswer(account, answer);
  if (page.kind === 'page') return { ...page, body: answer.body };
  return { ...page, reachable: true, body: answer.body };
}

function queryMessage(
  profile: Profile,
  account: Account,
  fields: Readonly<Record<string, string>>,
): SignedMessage {
  const { merchantId: merchant_id, accountId: account_id } = account;
  const message = { merchant_id, account_id, ...fields };
  return signMessage(profile.signing, 'retrievalTrans', account, message);
}
