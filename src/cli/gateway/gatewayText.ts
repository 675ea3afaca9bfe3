// How one call of the gateway is shown: as a JSON document or as lines, both without secrets. Owns
// the masking: no signature, key, cookie, token or security code is printed, of a card number its
// first six and last four digits (law 10 of ARCHITECTURE.md). Ids are never altered. Pure.

import { maskCardNumbers, maskedStart } from '../../core/text/masking.js';
import type { CallName, CallReport } from './gatewayCall.js';

const HIDDEN = '***';
const BODY_CHARS_MAX = 4_000;

const SECRET_FIELD =
  /^(encryption_?data|sign_?info|security_code|cvv|all_?params|.*cookie.*|.*token.*|cavv)$/i;
/** `..._id`, `order_no` and the like are what a person looks an order up by. */
const ID_FIELD = /(^id|_id|Id|_no|No|reference)$/;
/** In its printed shape it is as long as a card number, and one in ten would pass for one. */
const DATE_FIELD = /^transaction(_d|D)ate$/;
const PRINTED_DATE = /^20\d{12}$/;

/** The report as data that may be printed. */
export function shownCall(name: CallName, accountId: string, report: CallReport): object {
  const { path, contentType, message, headerNames } = report.request;
  const { signedFields, undocumented, kind, reason, status, isFine } = report;
  const { unmapped, unmappedRecurring } = report;
  return {
    operation: name,
    accountId,
    request: { path, contentType, headerNames, message: masked(message) },
    signedFields,
    undocumented,
    kind,
    reason,
    status,
    unmapped,
    ...(unmappedRecurring && { unmappedRecurring }),
    isFine,
    understood: masked(plain(report.understood)),
    body: rawBody(report),
  };
}

export function callLines(name: CallName, accountId: string, report: CallReport): string[] {
  const { request, signedFields, undocumented, kind, reason, status, unmapped } = report;
  const lines = [
    `POST ${request.path} (${request.contentType}), account ${accountId}`,
    ...request.headerNames.map((name) => `  ${name}: ${HIDDEN}`),
    ...jsonLines(masked(request.message)),
    `Signed: ${signedFields.join(', ')}`,
  ];
  if (name !== 'query' && undocumented.length > 0) {
    lines.push(`Not in the document: ${undocumented.join(', ')}`);
  }
  const http = status === null ? '' : ` (HTTP ${status})`;
  lines.push('', `Answer: ${kind}${http}${reason === null ? '' : `: ${reason}`}`);
  const body = rawBody(report);
  if (report.understood !== null) lines.push(...jsonLines(masked(plain(report.understood))));
  else if (body !== null) lines.push('As it came:', body);
  return [
    ...lines,
    ...unmappedLines('payment_status', 'statuses.payment', unmapped),
    ...unmappedLines('recurring_status', 'statuses.recurring', report.unmappedRecurring ?? {}),
  ];
}

function unmappedLines(
  field: string,
  key: string,
  codes: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(codes).map(
    ([code, orders]) =>
      `${field} ${code} of ${orders} order(s) has no meaning in the profile yet: ${key}`,
  );
}

/** Maps become objects, the page and the bytes of an answer are not repeated. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  if (Buffer.isBuffer(value)) return `${value.length} bytes`;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'html')
      .map(([name, part]) => [name, plain(part)]),
  );
}

function masked(value: unknown, name = ''): unknown {
  if (SECRET_FIELD.test(name) && value !== null) return HIDDEN;
  if (Array.isArray(value)) return value.map((part) => masked(part, name));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, masked(part, key)]));
  }
  if (typeof value !== 'string') return value;
  if (name === 'card') return maskedCard(value);
  if (DATE_FIELD.test(name) && PRINTED_DATE.test(value)) return value;
  return ID_FIELD.test(name) ? value : maskCardNumbers(value);
}

/** Whatever stands in this field is treated as a card number, also where its check digit fails. */
function maskedCard(card: string): string {
  return card.length < 13 ? HIDDEN : `${card.slice(0, 6)}******${card.slice(-4)}`;
}

function idsOf(message: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(message)
    .filter(([name, value]) => ID_FIELD.test(name) && typeof value === 'string')
    .map(([, value]) => value as string);
}

/** What came where nothing of it was understood, for a person to read; null: it was, or nothing. */
function rawBody({ body, understood, request }: CallReport): string | null {
  return body === null || understood !== null ? null : shownBody(body, idsOf(request.message));
}

/** The beginning of a body, without secrets. */
function shownBody(body: Buffer, keep: readonly string[]): string {
  return maskedStart(body.toString('utf8'), BODY_CHARS_MAX, keep, withoutSecrets);
}

/** Long hexadecimal texts are signatures. */
function withoutSecrets(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .replace(/[\da-f]{40,}/gi, HIDDEN)
    .replace(
      /(\b\w*(?:token|cookie|security|encryption)\w*["']?\s*[>:=]\s*["']?)[^"'<>\s]+/gi,
      `$1${HIDDEN}`,
    );
}

function jsonLines(value: unknown): string[] {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => `  ${line}`);
}
