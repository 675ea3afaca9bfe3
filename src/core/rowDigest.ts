// The digest of the rows of a report, in their order, so that anybody may ask later whether the
// database still holds the same ones. Rows by the million: they are added a chunk at a time. Pure.

import { createHash } from 'node:crypto';
import type { OrderRow } from './runs/reporting.js';

/** Stands in no field: what is kept of a record has no control characters but tab and line feed. */
const BETWEEN = '\u001f';
const END = '\u001e';

export interface RowDigest {
  add: (rows: readonly OrderRow[]) => void;
  /** In hexadecimal; nothing can be added any more. */
  end: () => string;
}

export function orderRowDigest(): RowDigest {
  const hash = createHash('sha256');
  return {
    add: (rows) => {
      let text = '';
      for (const row of rows) text += orderText(row);
      hash.update(text, 'utf8');
    },
    end: () => hash.digest('hex'),
  };
}

function orderText(row: OrderRow): string {
  const { accountId, orderNo, kinds, expected, gatewayState, paymentStatus, currency } = row;
  const { ledgerAmount, gatewayAmount, transactionId } = row;
  const who = `${accountId}${BETWEEN}${orderNo}${BETWEEN}${transactionId}`;
  const states = `${row.class}${BETWEEN}${kinds}${BETWEEN}${expected}${BETWEEN}${gatewayState}`;
  const money = `${currency}${BETWEEN}${ledgerAmount}${BETWEEN}${gatewayAmount}`;
  return `${who}${BETWEEN}${states}${BETWEEN}${paymentStatus}${BETWEEN}${money}${END}`;
}
