// The configuration as it may be shown and as it is recorded with a run: without secrets. Owns the
// masked description and the hash of the settings. It must never read a secret's value. Neighbours:
// config.ts makes what is described here, with masked views of its secrets.

import { createHash } from 'node:crypto';
import type { RecordedOperations } from '../core/instructions/policy.js';
import { formatAmount } from '../core/money.js';
import type { Config } from './config.js';

/** What is asked of the settings of a run; old ones may lack what came later. */
export interface DescribedConfig extends Record<string, unknown> {
  readonly environment?: Config['environment'];
  readonly accounts: readonly { merchantId: string; accountId: string; liveFrom: string | null }[];
  readonly operations: RecordedOperations & { readonly resendAfterHours: number | null };
  readonly gateway?: { readonly profileSha256?: string };
}

/** No secret, amounts as text, the profile by its hash. */
export function describeConfig(config: Config): DescribedConfig {
  const { profile: _, profileText, ...gateway } = config.gateway;
  const profileSha256 = sha256(profileText);
  const shown = { ...config, gateway: { ...gateway, profileSha256 } };
  return JSON.parse(JSON.stringify(shown, bigintsAsText)) as DescribedConfig;
}

/** The profile by its hash, as the description names it. */
export function profileDigest({ gateway }: Pick<Config, 'gateway'>): string {
  return sha256(gateway.profileText);
}

/** What decides nothing of what a night does: whoever changes it lets nothing wait. */
export const NOT_OF_THE_NIGHT = [
  // where files lie, and what proxy leads to the gateway
  'file',
  'dataDir',
  'reports',
  'gateway.proxy',
  // whose answers are still believed frees no money
  'accounts[].previousSigningKey',
  // nor does who signs, by when people are to act, and when somebody is told
  'days',
  'decisions',
  'breaks',
  'authorisations',
  // how a receiver knows us, and what else it is told
  'notify.webhookKey',
  'notify.security',
  'notify.heads',
  // where links lead and who may knock
  'web.address',
  'web.proxies',
  'web.notifications',
  'web.tls',
  'exceptions',
] as const;

/** Equal for equal settings, wherever the files lie and whatever proxy leads to the gateway. */
export function configHash(config: Config): string {
  const { gateway, settlement, ...given } = NOT_OF_THE_NIGHT.reduce(
    without,
    describeConfig(config),
  );
  const profiled = { ...(gateway as object), profileFile: null };
  const hashed = { ...given, gateway: profiled, ...settlementGiven(settlement) };
  return sha256(JSON.stringify(sortedKeys(hashed)));
}

/** Where files are imported from decides nothing; a file without the section keeps its hash. */
function settlementGiven(settlement: unknown): Record<string, unknown> {
  if (settlement === null) return {};
  return { settlement: { ...(settlement as object), inbox: null, files: [] } };
}

/** The same without what stands at the path, as in `web.tls` and `accounts[].signingKey`. */
function without(described: Record<string, unknown>, path: string): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  const [key = '', isList] = name.split('[');
  const { [key]: part, ...others } = described;
  if (rest.length === 0) return others;
  const inside = (one: unknown) => without(one as Record<string, unknown>, rest.join('.'));
  const kept = isList === undefined ? inside(part) : (part as unknown[]).map(inside);
  return { ...others, [key]: kept };
}

function bigintsAsText(key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return key === 'partsPerMillion' ? value.toString() : formatAmount(value);
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sortedKeys(part)]));
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
