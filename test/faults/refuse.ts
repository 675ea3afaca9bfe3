// A gateway that clearly refuses a capture, in the document's words: nothing moved.

import type { Call } from './front.js';
import { answerJson } from './front.js';

interface Asked {
  merchant_id: string;
  account_id: string;
  capture_orders: Record<string, string>[];
}

export function refuse(call: Call): true {
  const { capture_orders: entries, merchant_id, account_id } = JSON.parse(call.body) as Asked;
  const no = { capture_status: '0', error_message: 'E1004:closed by the issuer' };
  const answers = entries.map((entry) => ({ ...entry, ...no }));
  return answerJson(call, { merchant_id, account_id, return_status: '1', capture_orders: answers });
}

/** The numbers of the orders that a capture names. */
export function capturedOrders({ operation, body }: Call): string[] {
  if (operation !== 'capture') return [];
  return (JSON.parse(body) as Asked).capture_orders.map((entry) => String(entry.order_no));
}
