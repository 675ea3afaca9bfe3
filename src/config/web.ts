// The web section of tieout.yaml: where the console listens, whose word on a visitor's address is
// believed, and the door for the gateway's notifications, which is shut until it is described.
// Used by config.ts; web/server.ts opens what is described here.

import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isConsoleAddress } from './addresses.js';
import { withMaskedKeys } from './secrets.js';
import { filled, tuning, whole } from './shapes.js';

export interface NotificationDoor {
  /** The last part of the path: /notify/SECRET; null: /notify, and `from` is the door. */
  readonly secret: string | null;
  /** Addresses and networks that may post; empty: whoever knows the path. One of both is there. */
  readonly from: readonly string[];
}

const network = filled.refine(isNetwork, 'must be an address or a network such as 10.0.0.0/8');

export const webSchema = tuning({
  host: filled.default('127.0.0.1'),
  port: whole(0, 65_535).default(8080),
  metricsToken: filled.min(16, 'must have 16 characters or more').nullable().default(null),
  address: filled
    .refine((text) => isConsoleAddress(text), 'must be a http:// or https:// address')
    .nullable()
    .default(null),
  /** Files in PEM: with them the console itself speaks TLS. */
  tls: z.strictObject({ cert: filled, key: filled }).nullable().default(null),
  proxies: z.array(network).default([]),
  notifications: z
    .strictObject({
      secret: filled
        .regex(
          /^[\w-]{16,128}$/,
          'must be 16 to 128 letters, digits, _ or -: it becomes a part of the path',
        )
        .nullable()
        .default(null),
      from: z.array(network).default([]),
    })
    .refine(({ secret, from }) => secret !== null || from.length > 0, {
      message: 'needs a secret, or the addresses that may post: else anybody may',
    })
    .nullable()
    .default(null),
});

/** The section, of which no secret is shown. `folder`: of the file, where its paths begin. */
export function webOf(given: z.infer<typeof webSchema>, folder: string): z.infer<typeof webSchema> {
  const { notifications } = given;
  const tls = given.tls && {
    cert: resolve(folder, given.tls.cert),
    key: resolve(folder, given.tls.key),
  };
  const door = notifications && withMaskedKeys({ ...notifications }, ['secret']);
  return withMaskedKeys({ ...given, tls, notifications: door }, ['metricsToken']);
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  const bitsMax = version === 4 ? 32 : 128;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
}
