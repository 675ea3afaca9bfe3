// The request of an attempt as it is kept: compressed, and without what looks like a card number.
// The digest of what really went out is kept beside it. Written with the claim, before the first
// byte, so it must cost next to nothing: a batch is a few kilobytes.

import { constants, gzipSync } from 'node:zlib';
import { maskCardNumbers, mayHoldCardNumber } from '../core/text/masking.js';
import type { SentBatch } from './prepareSend.js';

/** `body` is UTF-8 text. Ids of what is sent are never altered. */
export function storedRequest(body: Buffer, { account, entries }: SentBatch): Buffer {
  const text = body.toString('utf8');
  const kept = mayHoldCardNumber(text)
    ? maskCardNumbers(text, [
        account.merchantId,
        account.accountId,
        ...entries.flatMap((entry) => [entry.orderNo, entry.transactionId]),
      ])
    : text;
  return gzipSync(kept, { level: constants.Z_BEST_SPEED });
}
