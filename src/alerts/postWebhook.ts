// One request to an address that the operator configured: the webhook, or the dead man's switch. It
// goes to the address that was checked and nowhere else: each address that the name stands for is
// looked at before the connection, no redirect is followed, and the answer is worth its status and
// no more. It must never repeat the address in a message: its path may be a secret.

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';

export interface CallRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface CallLimits {
  /** from the look-up of the name to the end of the answer */
  timeoutMs: number;
  signal: AbortSignal;
}

export type CallResult = { kind: 'accepted' } | { kind: 'failed'; reason: string };

/** An answer is read so far, and then left. */
const ANSWER_BYTES_MAX = 65_536;

/**
 * Where no receiver of alerts lives: the address of the machine's own network card and the metadata
 * services of clouds, which hand out credentials to whoever asks. Loopback and private networks are
 * the operator's own, and are where receivers often are.
 */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('0.0.0.0', 8, 'ipv4');
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4');
FORBIDDEN.addAddress('100.100.100.200', 'ipv4');
FORBIDDEN.addAddress('192.0.0.192', 'ipv4');
FORBIDDEN.addAddress('168.63.129.16', 'ipv4');
FORBIDDEN.addSubnet('224.0.0.0', 3, 'ipv4');
FORBIDDEN.addAddress('::', 'ipv6');
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addSubnet('ff00::', 8, 'ipv6');
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6');
FORBIDDEN.addAddress('fd20:ce::254', 'ipv6');
/** IPv6 addresses that a gateway in the network translates into IPv4. */
FORBIDDEN.addSubnet('64:ff9b::', 96, 'ipv6');
FORBIDDEN.addSubnet('64:ff9b:1::', 48, 'ipv6');
FORBIDDEN.addSubnet('2002::', 16, 'ipv6');
FORBIDDEN.addSubnet('::', 96, 'ipv6');

const REFUSED = 'the address is one of those that are never called (link-local, metadata)';

export function isForbidden(ip: string): boolean {
  if (ip === '::1') return false;
  return FORBIDDEN.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
}

export async function call(
  address: string,
  { method, headers, body }: CallRequest,
  { timeoutMs, signal }: CallLimits,
): Promise<CallResult> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A name is checked when it is looked up; an address is never looked up.
  if (isIP(host) !== 0 && isForbidden(host)) return { kind: 'failed', reason: REFUSED };
  const late = AbortSignal.timeout(timeoutMs);
  const options: RequestOptions = {
    method,
    // A connection of its own: one that is kept would not be looked at again.
    agent: false,
    headers: { ...headers, ...lengthOf(body), connection: 'close' },
    lookup: checkedLookup as NonNullable<RequestOptions['lookup']>,
    signal: AbortSignal.any([late, signal]),
  };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  try {
    return resultOf(await answerTo(send(url, options), body));
  } catch (error) {
    if (late.aborted) return { kind: 'failed', reason: `no answer in ${timeoutMs} ms` };
    if (signal.aborted) return { kind: 'failed', reason: ENDED };
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

function lengthOf(body: string): Record<string, string> {
  return body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
}

function answerTo(request: ClientRequest, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (answer) => {
      drain(answer, request);
      answer.on('error', reject);
      answer.on('close', () => resolve(answer.statusCode ?? 0));
    });
    request.end(body);
  });
}

/** Reads the answer to its end, or as far as anybody could need. */
function drain(answer: IncomingMessage, request: ClientRequest): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= ANSWER_BYTES_MAX) return;
    answer.removeAllListeners('error');
    answer.on('error', () => {});
    request.destroy();
  });
}

function resultOf(status: number): CallResult {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  return { kind: 'failed', reason: `it answered HTTP ${status}${redirect}` };
}

type Found = (error: Error | null, found?: string | LookupAddress[], family?: number) => void;

/** The name's addresses, all of which must be allowed: the connection goes to one of these. */
export function checkedLookup(host: string, options: LookupOptions, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error);
    if (addresses.some(({ address }) => isForbidden(address))) return found(new Error(REFUSED));
    if (options.all === true) return found(null, addresses);
    found(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 4);
  });
}

const ENDED = 'it had not answered when this process ended';

/** By its code alone: messages of the platform name host and port. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.message === REFUSED) return REFUSED;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  return `it could not be reached (${code})`;
}
