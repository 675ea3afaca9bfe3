// Reads the XML of the gateway, root element `respon`. Owns the XML parser and its limits: no
// DOCTYPE, no coercion of digits, no element twice, nothing truncated. It knows names only where
// the document shows children (risk_reasons); what an element means is its callers' matter:
// paymentResponse.ts for stored answers, paymentAnswer.ts for those to our own requests.

import { XMLParser } from 'fast-xml-parser';
import { cutText } from '../../core/text/heldText.js';

export interface XmlLimits {
  maxBytes: number;
  /** Elements inside one another, the root included. */
  maxDepth: number;
}

/** Far above what the document shows: some thirty short fields, one of them with children. */
export const PAYMENT_RESPONSE_LIMITS: XmlLimits = { maxBytes: 262_144, maxDepth: 6 };

export interface Respon {
  kind: 'respon';
  /** Every element of the root that holds text alone, as it came. */
  values: Map<string, string>;
  riskReasons: RiskReason[];
}

interface RiskReason {
  name: string | null;
  status: string | null;
}

export interface Refused {
  kind: 'refused';
  reason: string;
}

/** The document shows `risk_reasons` with children and does not say how often it may come. */
const MAY_REPEAT = 'risk_reasons';
const RISK_REASONS_MAX = 1_000;

const MAX_REASON_LENGTH = 200;

export function readRespon(
  xml: string | Uint8Array,
  limits: XmlLimits = PAYMENT_RESPONSE_LIMITS,
): Respon | Refused {
  const text = xmlTextOf(xml, limits.maxBytes);
  if (text.kind === 'refused') return text;
  return rootOf(text.text, limits.maxDepth);
}

export function refused(reason: string): Refused {
  return { kind: 'refused', reason: cutText(reason, MAX_REASON_LENGTH) };
}

/** The text of a document within its limit: UTF-8, without declarations of its own. */
export function xmlTextOf(
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

function rootOf(text: string, maxDepth: number): Respon | Refused {
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

function valuesOf(root: object): Respon | Refused {
  const values = new Map<string, string>();
  for (const [name, value] of entriesOf(root)) {
    if (Array.isArray(value) && name !== MAY_REPEAT) return refused(`has ${name} more than once`);
    if (name === '#text') return refused('has text outside of its elements');
    if (typeof value === 'string') values.set(name, value);
  }
  const reasons = Object.hasOwn(root, MAY_REPEAT) ? Reflect.get(root, MAY_REPEAT) : [];
  const list: unknown[] = Array.isArray(reasons) ? reasons : [reasons];
  if (list.length > RISK_REASONS_MAX) return refused(`has too many ${MAY_REPEAT}`);
  return { kind: 'respon', values, riskReasons: list.flatMap(riskReasonsOf) };
}

/** One element with one name and one status, or with several of each in the same order. */
function riskReasonsOf(node: unknown): RiskReason[] {
  const fields = new Map(entriesOf(node));
  const names = textsOf(fields.get('name'));
  const statuses = textsOf(fields.get('status'));
  return Array.from({ length: Math.max(names.length, statuses.length) }, (_, at) => ({
    name: names[at] ?? null,
    status: statuses[at] ?? null,
  }));
}

function textsOf(value: unknown): (string | null)[] {
  if (value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => (typeof one === 'string' && one !== '' ? one : null));
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
