// Reads the XML answer of a direct payment, root element `respon` (document, "Direct payment
// response"). Owns the XML parser and its limits: no DOCTYPE, no coercion of digits, no element
// twice, nothing truncated. It never says what a status means and never verifies the signature:
// sign.ts does, on `values`. Used for stored responses that a person imports.

import { XMLParser } from 'fast-xml-parser';
import { identifierProblem } from '../core/ledgerRow.js';
import type { Hundredths } from '../core/money.js';
import { parseAmount } from '../core/money.js';

export interface XmlLimits {
  maxBytes: number;
  /** Elements inside one another, the root included. */
  maxDepth: number;
}

/** Far above what the document shows: some thirty short fields, one of them with children. */
export const PAYMENT_RESPONSE_LIMITS: XmlLimits = { maxBytes: 262_144, maxDepth: 6 };

export interface PaymentResponse {
  kind: 'response';
  merchantId: string;
  accountId: string;
  orderNo: string;
  amount: Hundredths;
  currency: string;
  /** null where the element is absent, as in the answer of an alternative payment method. */
  transactionId: string | null;
  orderStatus: string | null;
  resultCode: string | null;
  resultMessage: string | null;
  signature: string | null;
  /** Every element of the root that holds text alone, as it came. */
  values: Record<string, string>;
}

export type PaymentResponseReading = PaymentResponse | { kind: 'refused'; reason: string };

/** The document shows `risk_reasons` with children and does not say how often it may come. */
const MAY_REPEAT = new Set(['risk_reasons']);

const MAX_REASON_LENGTH = 200;

export function parsePaymentResponse(
  xml: string | Uint8Array,
  limits: XmlLimits = PAYMENT_RESPONSE_LIMITS,
): PaymentResponseReading {
  const text = textOf(xml, limits.maxBytes);
  if (text.kind === 'refused') return text;
  const root = rootOf(text.text, limits.maxDepth);
  if (root.kind === 'refused') return root;
  return readResponse(root.values);
}

type Refused = { kind: 'refused'; reason: string };

function refused(reason: string): Refused {
  return { kind: 'refused', reason: reason.slice(0, MAX_REASON_LENGTH) };
}

function textOf(
  xml: string | Uint8Array,
  maxBytes: number,
): { kind: 'text'; text: string } | Refused {
  const size = typeof xml === 'string' ? Buffer.byteLength(xml) : xml.byteLength;
  if (size > maxBytes) return refused(`is larger than ${maxBytes} bytes`);
  let text: string;
  try {
    text = typeof xml === 'string' ? xml : new TextDecoder('utf-8', { fatal: true }).decode(xml);
  } catch {
    return refused('is not UTF-8 text');
  }
  // Before parsing: the parser would expand small entities of the document's own.
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return refused('has a DOCTYPE');
  const encoding = /^\uFEFF?<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1];
  if (encoding !== undefined && !/^(utf-8|us-ascii)$/i.test(encoding)) {
    return refused('is declared in another encoding than UTF-8');
  }
  return { kind: 'text', text: text.replace(/^\uFEFF/, '') };
}

function rootOf(
  text: string,
  maxDepth: number,
): { kind: 'root'; values: Map<string, string> } | Refused {
  let parsed: unknown;
  try {
    const parser = new XMLParser({
      ignoreAttributes: false,
      ignoreDeclaration: true,
      ignorePiTags: true,
      parseTagValue: false,
      parseAttributeValue: false,
      removeNSPrefix: true,
      htmlEntities: true,
    });
    // The second argument validates: without it unclosed elements and a second root pass.
    parsed = parser.parse(text, true);
  } catch (error) {
    return refused(`is not well-formed XML: ${error instanceof Error ? error.message : ''}`);
  }
  const tops = entriesOf(parsed);
  const [name, root] = tops[0] ?? ['', null];
  if (tops.length !== 1 || name !== 'respon') return refused('has no root element respon');
  if (Array.isArray(root)) return refused('has more than one root element');
  if (depthOf(root) > maxDepth) return refused(`is nested deeper than ${maxDepth} elements`);
  if (typeof root !== 'object' || root === null) return refused('has an empty respon');
  return valuesOf(root);
}

function valuesOf(root: object): { kind: 'root'; values: Map<string, string> } | Refused {
  const values = new Map<string, string>();
  for (const [name, value] of entriesOf(root)) {
    if (Array.isArray(value) && !MAY_REPEAT.has(name)) return refused(`has ${name} more than once`);
    if (name === '#text') return refused('has text outside of its elements');
    if (typeof value === 'string') values.set(name, value);
  }
  return { kind: 'root', values };
}

function readResponse(values: Map<string, string>): PaymentResponseReading {
  const ids: string[] = [];
  for (const name of ['merchant_id', 'account_id', 'order_no']) {
    const value = values.get(name);
    if (value === undefined) return refused(`has no ${name} that is text alone`);
    const problem = identifierProblem(value);
    if (problem !== null) return refused(`${name} ${problem}`);
    ids.push(value);
  }
  const [merchantId = '', accountId = '', orderNo = ''] = ids;
  const amount = parseAmount(values.get('amount') ?? '');
  if (amount === null || amount === 0n) return refused('amount lacks the printed shape');
  const currency = values.get('currency') ?? '';
  if (!/^[A-Z]{3}$/.test(currency)) return refused('currency is no currency code');
  // Printed as <code>:<message>; without a colon it is neither.
  const result = /^([^:]*):(.*)$/s.exec(values.get('result_info') ?? '');
  const transactionId = values.get('transaction_id') || null;
  const problem = transactionId === null ? null : identifierProblem(transactionId);
  if (problem !== null) return refused(`transaction_id ${problem}`);
  return {
    kind: 'response',
    merchantId,
    accountId,
    orderNo,
    amount,
    currency,
    transactionId,
    orderStatus: values.get('order_status') || null,
    resultCode: result?.[1] ?? null,
    resultMessage: result?.[2] ?? null,
    signature: values.get('encryption_data') || null,
    values: Object.fromEntries(values),
  };
}

function entriesOf(node: unknown): [string, unknown][] {
  return typeof node === 'object' && node !== null ? Object.entries(node) : [];
}

/** Levels of elements; the parser itself gives up at a hundred. */
function depthOf(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 1;
  const children = Array.isArray(node) ? node : Object.values(node);
  const deepest = Math.max(0, ...children.map(depthOf));
  return Array.isArray(node) ? deepest : deepest + 1;
}
