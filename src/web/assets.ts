// The stylesheet, the one script and the icon: three files, read once, found by name in this list
// and never by a path from outside. A page names them with a part of their digest, so that after an
// update nobody sees new pages in the old style.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { packageRoot } from '../database/statements.js';

const TYPES = {
  'console.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;
type AssetName = keyof typeof TYPES;
const KEPT_SECONDS = 3_600;

interface Asset {
  bytes: Buffer;
  tag: string;
}

const read = new Map<AssetName, Asset>();

function assetOf(name: AssetName): Asset {
  const known = read.get(name);
  if (known !== undefined) return known;
  const bytes = readFileSync(join(packageRoot(), 'src', 'web', 'assets', name));
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  const asset = { bytes, tag };
  read.set(name, asset);
  return asset;
}

/** Where a page finds it. */
export function assetPath(name: AssetName): string {
  return `/assets/${name}?v=${assetOf(name).tag}`;
}

export function addAssets(server: FastifyInstance): void {
  for (const [name, type] of Object.entries(TYPES) as [AssetName, string][]) {
    const { bytes, tag } = assetOf(name);
    server.get(`/assets/${name}`, async (request, reply) => {
      reply.header('cache-control', `public, max-age=${KEPT_SECONDS}`).header('etag', `"${tag}"`);
      if (request.headers['if-none-match'] === `"${tag}"`) return reply.code(304).send();
      return reply.type(type).send(bytes);
    });
  }
}
