// The notify section of tieout.yaml: who is told from outside, whether of what concerns the
// console's safety, too, and the key by which a receiver knows that a message is ours. Used by
// config.ts; alerts/deliverAlerts.ts tells.

import type { z } from 'zod';
import { isWebAddress } from './addresses.js';
import { withMaskedKeys } from './secrets.js';
import { filled, flag, tuning } from './shapes.js';

export interface NotifySettings {
  /** An address; its path may be its secret. */
  readonly webhook: string | null;
  readonly deadMansSwitch: string | null;
  /** Signs each message to the webhook; null: none is signed. */
  readonly webhookKey: string | null;
  /** Sign-ins, lockouts, changes of people, resumed sending and refused forms are told as well. */
  readonly security: boolean;
  /** The signed end of each run is sent as well, for somebody else to keep. */
  readonly heads: boolean;
}

const KEY_LENGTH_MIN = 16;
const told = filled
  .refine(isWebAddress, 'must be a http:// or https:// address')
  .nullable()
  .default(null);

export const notifySchema = tuning({
  webhook: told,
  deadMansSwitch: told,
  webhookKey: filled
    .min(KEY_LENGTH_MIN, `must have ${KEY_LENGTH_MIN} characters or more`)
    .nullable()
    .default(null),
  security: flag.default(false),
  heads: flag.default(false),
});

/** The section, of which no secret is shown. */
export function notifyOf(given: z.infer<typeof notifySchema>): NotifySettings {
  return withMaskedKeys({ ...given }, ['webhook', 'deadMansSwitch', 'webhookKey']);
}
