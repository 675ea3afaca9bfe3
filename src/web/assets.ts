// The stylesheet, the one script and the icon: three files, read once, found by name in this list
// and never by a path from outside.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { packageRoot } from '../store/sql.js';

const FILES = [
  { name: 'console.css', type: 'text/css; charset=utf-8' },
  { name: 'console.js', type: 'text/javascript; charset=utf-8' },
  { name: 'icon.svg', type: 'image/svg+xml' },
];
const KEPT_SECONDS = 3_600;

export function addAssets(server: FastifyInstance): void {
  for (const { name, type } of FILES) {
    const bytes = readFileSync(join(packageRoot(), 'src', 'web', 'assets', name));
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`;
    server.get(`/assets/${name}`, async (request, reply) => {
      reply.header('cache-control', `public, max-age=${KEPT_SECONDS}`).header('etag', tag);
      if (request.headers['if-none-match'] === tag) return reply.code(304).send();
      return reply.type(type).send(bytes);
    });
  }
}
