// The sandbox's profile with other limits, as a file of a house: for answers that never come.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../src/gateway/profile.js';
import { sandboxProfile } from '../../src/gateway/profile.js';
import type { House } from '../support/night.js';
import { rewriteSettings } from '../support/night.js';

export function impatient(house: House, limits: Partial<Profile['limits']>): void {
  const profile = sandboxProfile();
  const file = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(file, JSON.stringify({ ...profile, limits: { ...profile.limits, ...limits } }));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile: file } });
}
