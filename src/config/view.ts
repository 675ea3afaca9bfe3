// The configuration as it may be shown and as it is recorded with a run: without secrets. Owns the
// masked description and the hash of the settings. It must never read a secret's value. Neighbours:
// config.ts makes what is described here, with masked views of its secrets.

import { createHash } from 'node:crypto';
import { formatAmount } from '../core/money.js';
import type { Config } from './config.js';

/** No secret, amounts as text, the profile by its hash. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { profile: _, profileText, ...gateway } = config.gateway;
  const profileSha256 = sha256(profileText);
  const shown = { ...config, gateway: { ...gateway, profileSha256 } };
  return JSON.parse(JSON.stringify(shown, bigintsAsText)) as Record<string, unknown>;
}

/** The profile by its hash, as the description names it. */
export function profileDigest({ gateway }: Pick<Config, 'gateway'>): string {
  return sha256(gateway.profileText);
}

/** Equal for equal settings, wherever the files lie and whatever proxy leads to the gateway. */
export function configHash(config: Config): string {
  const {
    file: _,
    dataDir: __,
    reports: ___,
    gateway,
    settlement,
    accounts,
    notify,
    web,
    exceptions: ____,
    // who signs decides nothing of what a night does
    days: ______,
    // nor by when they are to act
    breaks: _________,
    decisions: ________,
    // nor does when somebody is told
    authorisations: _______,
    ...settings
  } = describeConfig(config);
  const { proxy: _____, ...gatewayShown } = gateway as Record<string, unknown>;
  const gatewaySettings = { ...gatewayShown, profileFile: null };
  const given = {
    ...{
      ...settings,
      ...settlementGiven(settlement),
      web: webGiven(web),
      accounts: accountsGiven(accounts),
      notify: notifyGiven(notify),
    },
    gateway: gatewaySettings,
  };
  return sha256(JSON.stringify(sortedKeys(given)));
}

/** Where files are imported from decides nothing; a file without the section keeps its hash. */
function settlementGiven(settlement: unknown): Record<string, unknown> {
  if (settlement === null) return {};
  return { settlement: { ...(settlement as object), inbox: null, files: [] } };
}

/** Whose answers are still believed frees no money: a key that is changed lets nothing wait. */
function accountsGiven(accounts: unknown): unknown[] {
  return (accounts as Record<string, unknown>[]).map(
    ({ previousSigningKey: _, ...given }) => given,
  );
}

/** How a receiver knows us, and what else it is told, decides nothing. */
function notifyGiven(notify: unknown): Record<string, unknown> {
  const { webhookKey: _, security: __, heads: ___, ...given } = notify as Record<string, unknown>;
  return given;
}

/** Where links lead and who may knock decides nothing. */
function webGiven(web: unknown): Record<string, unknown> {
  const {
    address: _,
    proxies: __,
    notifications: ___,
    tls: ____,
    ...given
  } = web as Record<string, unknown>;
  return given;
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
