// The sandbox's profile with other limits, as a file of a house: for answers that never come.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../src/gateway/document/profile.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { House } from '../support/night.js';
import { rewriteSettings } from '../support/night.js';

export function impatient(house: House, limits: Partial<Profile['limits']>): void {
  writeProfile(house, (profile) => ({ ...profile, limits: { ...profile.limits, ...limits } }));
}

/** What a signature on an answer is worth; `off`: answers can be retold. */
export function signatures(house: House, responses: Profile['signing']['responses']): void {
  writeProfile(house, (profile) => ({ ...profile, signing: { ...profile.signing, responses } }));
}

function writeProfile(house: House, change: (profile: Profile) => unknown): void {
  const file = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(file, JSON.stringify(change(sandboxProfile())));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile: file } });
}
