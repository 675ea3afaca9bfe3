// What `tieout doctor` says of the console's own certificate. Neighbour: consoleCertificate.ts.

import type { Config } from '../../../config/config.js';
import { messageOf } from '../../../core/errors.js';
import { certificateState } from '../consoleCertificate.js';
import type { Check } from './check.js';

/** Nothing where the console speaks no TLS itself. */
export function certificateChecks({ web }: Pick<Config, 'web'>, now = new Date()): Check[] {
  if (web.tls === null) return [];
  const name = 'web.tls';
  try {
    return [{ name, ...certificateState(web.tls, now) }];
  } catch (error) {
    return [{ name, kind: 'problem', words: `${messageOf(error)}: the console does not start` }];
  }
}
