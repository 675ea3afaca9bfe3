// The section `settlement` of tieout.yaml: its defaults, all of its keys, and what is refused, each
// by its key.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { INITIAL_VALUES, renderConfig } from '../../src/config/templates.js';
import { configHash, describeConfig } from '../../src/config/view.js';
import { ConfigurationError } from '../../src/core/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-settlement-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'maps'));
writeFileSync(join(folder, 'maps', 'acquirer.yaml'), 'table: settlement\n');

const ACCOUNTS = `accounts:
  - { merchantId: "M1", accountId: "A1", signingKey: "k1" }
  - { merchantId: "M1", accountId: "A2", signingKey: "k2" }
`;

function load(text: string) {
  writeFileSync(join(folder, 'tieout.yaml'), text);
  return loadConfig({ env: { KEY_A1001: 'k' }, cwd: folder });
}

function section(text: string) {
  return load(`${ACCOUNTS}settlement: ${text}\n`).settlement;
}

const LINE = 'accountId: "A1", type: captured, from: "2026-11-01"';

describe('settlement', () => {
  it.each(['', 'settlement:\n', 'settlement: null\n'])('is not there: %j', (text) => {
    const config = load(ACCOUNTS + text);
    expect(config.settlement).toBeNull();
    expect(configHash(config)).toBe(configHash(load(ACCOUNTS)));
  });

  it('has a default for every key but from', () => {
    expect(section('{ from: 2026-11-01 }')).toEqual({
      from: '2026-11-01',
      settleDays: 5,
      arriveDays: 3,
      holidays: [],
      reference: null,
      counterparty: null,
      bankAccounts: [],
      tariff: [],
      inbox: null,
      files: [],
    });
  });

  it('takes every key, puts dates and tariffs in order, and finds files beside its own', () => {
    const read = section(`
  from: "2026-11-01"
  settleDays: "7"
  arriveDays: 2
  holidays: ["2026-12-26", "2026-12-25", "2026-12-25"]
  reference: "BATCH (?:NO )?([0-9]+)"
  counterparty: "^ACQ"
  bankAccounts: ["de89 3704 0044 0532 0130 00", GB82WEST12345698765432]
  tariff:
    - { accountId: "A2", type: refunded, fixed: { EUR: "0.10" } }
    - { accountId: "A1", type: captured, percent: 2, from: "2026-12-01", tolerance: "0.020" }
    - { accountId: "A1", type: captured, percent: "1.40", fixed: { EUR: "0.25", JPY: "30" }, from: "2026-11-01" }
  inbox: in
  files: [{ match: "settlement_*.csv", map: maps/acquirer.yaml }]`);
    expect(read).toEqual({
      from: '2026-11-01',
      settleDays: 7,
      arriveDays: 2,
      holidays: ['2026-12-25', '2026-12-26'],
      reference: 'BATCH (?:NO )?([0-9]+)',
      counterparty: '^ACQ',
      bankAccounts: ['DE89370400440532013000', 'GB82WEST12345698765432'],
      tariff: [
        {
          accountId: 'A1',
          type: 'captured',
          partsPerMillion: 14_000n,
          fixed: { EUR: 25n, JPY: 3_000n },
          from: '2026-11-01',
          tolerance: 1n,
        },
        {
          accountId: 'A1',
          type: 'captured',
          partsPerMillion: 20_000n,
          fixed: {},
          from: '2026-12-01',
          tolerance: 2n,
        },
        {
          accountId: 'A2',
          type: 'refunded',
          partsPerMillion: 0n,
          fixed: { EUR: 10n },
          from: '2026-11-01',
          tolerance: 1n,
        },
      ],
      inbox: join(folder, 'in'),
      files: [{ match: 'settlement_*.csv', map: join(folder, 'maps', 'acquirer.yaml') }],
    });
  });

  it.each([
    ['{}', 'from', 'must be a date'],
    ['{ from: "2026-02-30" }', 'from', 'must be a date'],
    ['{ from: "2026-11-01", since: 1 }', 'since', 'unknown key'],
    ['{ from: "2026-11-01", settleDays: -1 }', 'settleDays', '>=0'],
    ['{ from: "2026-11-01", arriveDays: 1.5 }', 'arriveDays', 'expected int'],
    ['{ from: "2026-11-01", holidays: ["25.12.2026"] }', 'holidays.0', 'must be a date'],
    ['{ from: "2026-11-01", reference: "BATCH" }', 'reference', 'exactly one group'],
    ['{ from: "2026-11-01", reference: "(A)(B)" }', 'reference', 'exactly one group'],
    ['{ from: "2026-11-01", reference: "(" }', 'reference', 'no regular expression'],
    ['{ from: "2026-11-01", counterparty: "[" }', 'counterparty', 'no regular expression'],
    ['{ from: "2026-11-01", bankAccounts: ["DE88370400440532013000"] }', 'bankAccounts.0', 'IBAN'],
    [
      '{ from: "2026-11-01", bankAccounts: ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00"] }',
      'bankAccounts.1',
      'given twice',
    ],
    [`{ from: "2026-11-01", tariff: [{ ${LINE}, rate: 1 }] }`, 'tariff.0.rate', 'unknown key'],
    [
      `{ from: "2026-11-01", tariff: [{ ${LINE}, percent: 1.23456 }] }`,
      'tariff.0.percent',
      '0 to 100',
    ],
    [
      `{ from: "2026-11-01", tariff: [{ ${LINE}, fixed: { eur: "1.00" } }] }`,
      'tariff.0.fixed.eur',
      'Invalid key',
    ],
    [
      `{ from: "2026-11-01", tariff: [{ ${LINE}, fixed: { KWD: "0.045" } }] }`,
      'tariff.0.fixed.KWD',
      'hundredths',
    ],
    [`{ from: "2026-11-01", tariff: [{ ${LINE} }, { ${LINE} }] }`, 'tariff.1', 'A1 captured'],
    [
      '{ from: "2026-11-01", tariff: [{ accountId: "A9", type: captured }] }',
      'tariff.0.accountId',
      'A9 is no account',
    ],
    [
      '{ from: "2026-11-01", tariff: [{ accountId: "A1", type: payout }] }',
      'tariff.0.type',
      'expected one of',
    ],
    [
      '{ from: "2026-11-01", files: [{ match: "in/*.csv", map: m }] }',
      'files.0.match',
      'not a path',
    ],
    [
      '{ from: "2026-11-01", files: [{ match: "*.csv", map: maps/no.yaml }] }',
      'files.0.map',
      'no.yaml',
    ],
    [
      '{ from: "2026-11-01", files: [{ match: "*.csv", map: "a\\0b" }] }',
      'files.0.map',
      'there is no file',
    ],
    [
      '{ from: "2026-11-01", files: [{ match: "*.csv", map: maps }] }',
      'files.0.map',
      'there is no file',
    ],
  ])('%s is refused by its key', (text, key, problem) => {
    const refused = () => section(text);
    expect(refused).toThrow(ConfigurationError);
    expect(refused).toThrow(`settlement.${key}`);
    expect(refused).toThrow(problem);
  });

  it('stands in what is shown and in the hash, save where files are taken from', () => {
    const text = `${ACCOUNTS}settlement: { from: "2026-11-01", tariff: [{ ${LINE}, percent: "1.40" }] }\n`;
    const config = load(text);
    expect(describeConfig(config).settlement).toMatchObject({
      from: '2026-11-01',
      tariff: [{ partsPerMillion: '14000', tolerance: '0.01' }],
    });
    const hash = configHash(config);
    expect(configHash(load(text.replace('from: "2026-11-01",', '$& inbox: in,')))).toBe(hash);
    expect(configHash(load(text.replace('1.40', '1.41')))).not.toBe(hash);
    expect(configHash(load(ACCOUNTS))).not.toBe(hash);
  });

  it('loads as the template of `tieout init` has it, once its lines are no comments', () => {
    const text = renderConfig(INITIAL_VALUES);
    expect(load(text).settlement).toBeNull();
    const freed = text.replace(/^# (settlement:)/m, '$1').replace(/^# {3}(.*)$/gm, '  $1');
    expect(load(freed).settlement).toMatchObject({ from: '2026-11-01', settleDays: 5, files: [] });
  });
});
