// Asks a gateway whose answer has so many pieces of 64 KB (0: it never ends), in a process of its
// own so that its peak of memory can be told. Started by pages.mjs. The client has to give up.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { createGatewayClient } from '../dist/src/gateway/client.js';
import { sandboxProfile } from '../dist/src/gateway/document/profile.js';

const PIECE = Buffer.alloc(64 * 1024, ' ');
const pieces = Number(process.argv[2]);

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' });
  let sent = 0;
  const more = () => {
    while (!response.destroyed && (pieces === 0 || sent < pieces)) {
      sent += 1;
      if (!response.write(PIECE)) return response.once('drain', more);
    }
    return response.end();
  };
  more();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = createGatewayClient({
  profile: sandboxProfile(),
  baseUrl: `http://127.0.0.1:${server.address().port}`,
});
const account = { merchantId: 'M1', accountId: 'A1', signingKey: 'k', liveFrom: null };
const answer = await client.queryPage(account, { kind: 'orders', orderNos: ['N1'] });
if (answer.kind !== 'failed') throw new Error('such an answer is no page');
await client.close();
server.closeAllConnections();
server.close();
process.stdout.write(`${JSON.stringify({ reason: answer.reason })}\n`);
