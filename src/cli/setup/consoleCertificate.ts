// The certificate with which the console speaks TLS itself (web.tls): its files, and until when it
// is good. `tieout web` and `start` begin with it, `doctor` looks at it beforehand.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf, UsageError } from '../../core/errors.js';
import { DAY_MS } from '../../core/time.js';

interface Tls {
  cert: string;
  key: string;
}

/** Told from so long before its end: time to have it renewed. */
const NOTICE_DAYS = 14;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const THEN = 'renew it, and start `tieout web` or `start` anew';

/** Read once: a renewed one counts from the next start on. */
export function readCertificate({ cert, key }: Tls): { cert: Buffer; key: Buffer } {
  try {
    const pem = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext(pem);
    return pem;
  } catch (error) {
    throw new UsageError(`web.tls: ${cert} and ${key} are of no use (${messageOf(error)})`);
  }
}

/** Whether browsers take it at that time, and how much longer. Throws as readCertificate does. */
export function certificateState(
  tls: Tls,
  now: Date,
): { kind: 'ok' | 'warning' | 'problem'; words: string } {
  // Those that vouch for it stand behind it in the file: the one that ends first counts.
  const chain = (String(readCertificate(tls).cert).match(BLOCK) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  const ends = new Date(Math.min(...chain.map(({ validTo }) => Date.parse(validTo))));
  const begins = new Date(Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))));
  if (now >= ends) {
    const words = `expired at ${ends.toISOString()}: no browser takes it; ${THEN}`;
    return { kind: 'problem', words: `${tls.cert} ${words}` };
  }
  if (now < begins) {
    const words = `is not valid before ${begins.toISOString()}: no browser takes it until then`;
    return { kind: 'problem', words: `${tls.cert} ${words}` };
  }
  const until = `${tls.cert} is valid until ${ends.toISOString()}`;
  return ends.getTime() - now.getTime() < NOTICE_DAYS * DAY_MS
    ? { kind: 'warning', words: `${until}: ${THEN}` }
    : { kind: 'ok', words: until };
}
