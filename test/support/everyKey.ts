// A configuration that gives every key there is, each with another value than its default, and the
// profile beside it: for tests that ask something of all of them. It is never opened.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PROFILE_FILE = `signing: { algorithm: sha512 }
statuses: { payment: { "2000": authorised, "3000": captured } }
`;

export const EVERY_KEY = `environment: test
database: { url: "postgres://user:secret@127.0.0.1/tieout" }
queue: { url: "redis://127.0.0.1" }
dataDir: ./data
gateway: { baseUrl: "https://gateway.example", profile: profile.yaml }
accounts:
  - merchantId: M1
    accountId: A1
    signingKey: k1
    previousSigningKey: before
    liveFrom: "2026-11-01T00:00:00Z"
    authorisation: { validHours: 168, warnHours: 12 }
schedule: { cron: "30 3 * * *", timezone: UTC, cutOff: "01:00", resumeUntil: "05:00" }
reconcile:
  lookbackDays: 40
  graceHours: 12
  tolerance: { below: "1.00", above: "2.00", percent: 1 }
  staleAuthorisationDays: 5
operations:
  capture: "off"
  cancel: auto
  refund: auto
  review: auto
  payout: approve
  approveAbove: { refund: { EUR: "500.00" } }
  maxPerRun: { refund: { count: 500, amount: { EUR: "20000.00" } } }
  preflightMinutes: 20
  resendAfterHours: 48
reports: { dir: ./sheets, keepDays: 30 }
retention: { evidenceMonths: 12 }
settlement:
  from: "2026-11-01"
  settleDays: 4
  arriveDays: 2
  holidays: ["2026-12-25"]
  reference: "BATCH ([0-9]+)"
  counterparty: "^ACQ"
  bankAccounts: [DE89370400440532013000]
  tariff: [{ accountId: A1, type: captured, percent: "1.40", fixed: { EUR: "0.25" } }]
  inbox: in
  files: [{ match: "s_*.csv", map: maps/acquirer.yaml }]
web:
  host: 127.0.0.2
  port: 8081
  metricsToken: a-token-of-the-metrics
  address: "https://console.example"
  tls: { cert: cert.pem, key: key.pem }
  proxies: [127.0.0.1]
  notifications: { secret: a-secret-of-the-path, from: ["192.0.2.0/24"] }
breaks: { dueDays: 3 }
days: { secondPerson: true }
decisions: { key: "${Buffer.alloc(32, 7).toString('base64')}" }
notify:
  webhook: "https://hook.example/secret"
  webhookKey: a-key-of-the-webhook
  deadMansSwitch: "https://ping.example/secret"
  security: true
  heads: true
exceptions: { plainQueue: "one rack, one wire" }
`;

/** A new folder with both files, and with those that the configuration names. */
export function everyKeyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-keys-'));
  mkdirSync(join(folder, 'maps'));
  writeFileSync(join(folder, 'maps', 'acquirer.yaml'), 'table: settlement\n');
  writeFileSync(join(folder, 'profile.yaml'), PROFILE_FILE);
  writeFileSync(join(folder, 'tieout.yaml'), EVERY_KEY);
  return folder;
}
