// What is said where TLS to the database does not come about: which server, why, and what to do. A
// server that only goes as far as the handshake, and the driver of every day.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseRefusesError } from '../../src/core/errors.js';
import { openClient } from '../../src/database/connection.js';
import {
  BY_AUTHORITY,
  EXPIRED,
  LOCALHOST,
  OTHER_HOST,
  type TestCertificate,
} from '../gateway/certificates.js';

const ASKED = '; what is asked of it says database.url (sslmode, sslrootcert)';

/** Null: it speaks no TLS. */
async function serve(certificate: TestCertificate | null): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(certificate === null ? 'N' : 'S');
      if (certificate === null) return;
      new TLSSocket(socket, { isServer: true, ...certificate }).on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function failureOf(certificate: TestCertificate | null, ca: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  writeFileSync(file, ca);
  const port = await serve(certificate);
  const asked = `sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  const connectionString = `postgres://ann:s3cret@127.0.0.1:${port}/books?${asked}`;
  const failure = await openClient({ connectionString }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DatabaseRefusesError);
  const { message } = failure as Error;
  expect(message).toContain(`the database books at 127.0.0.1:${port} cannot be used: `);
  expect(message).not.toContain('s3cret');
  return message.replace(/^.*cannot be used: /, '');
}

it.each([
  ['has expired: a new one has to be installed there', EXPIRED, EXPIRED.cert],
  ['is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)', LOCALHOST, OTHER_HOST.cert],
  ['is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', BY_AUTHORITY, OTHER_HOST.cert],
  ['is made out to another name (ERR_TLS_CERT_ALTNAME_INVALID)', OTHER_HOST, OTHER_HOST.cert],
])("names the database whose server's certificate %s", async (why, certificate, ca) => {
  expect(await failureOf(certificate, ca)).toBe(`the server's certificate ${why}${ASKED}`);
});

it('names the database whose server speaks no TLS', async () => {
  const words = 'the server speaks no TLS: switch `ssl` on there';
  expect(await failureOf(null, LOCALHOST.cert)).toBe(`${words}${ASKED}`);
});
