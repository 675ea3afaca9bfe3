// Somebody who holds a file and does not know the columns: the help and the paper have all of them,
// and a shop's own file names the map that reads it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnsHelp, IMPORT_COLUMNS } from '../../src/cli/ledger/importColumns.js';
import { SHOP_EXPORTS, shopHint } from '../../src/core/mapping/shopFormats.js';
import { packageRoot } from '../../src/database/statements.js';
import { csvLines } from '../../src/ledger/lines/csvLines.js';
import { tieoutHere } from '../support/cliHere.js';
import { textOf } from '../support/sourceFiles.js';

const EXPORTS = join(packageRoot(), 'test', 'ledger', 'exports');

describe.each(Object.entries(IMPORT_COLUMNS))('import %s', (kind, columns) => {
  it('names every column in its help and in the paper', async () => {
    const { stdout } = await tieoutHere(['import', kind, '--help'], { cwd: packageRoot() });
    const help = columnsHelp(kind) ?? '';
    expect(stdout).toContain(help);
    const table = textOf('docs/IMPORT.md')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    for (const { name, nullable } of columns) {
      // Over as many lines as it takes.
      const words = help.split(/\n(?= {2}\S)/).find((one) => one.startsWith(`  ${name} `)) ?? '';
      expect(words.slice(name.length + 2).trim(), name).not.toBe('');
      expect(/may\s+be\s+empty/.test(words), name).toBe(nullable);
      expect(table.some((row) => row.includes(kind) && row.includes(`\`${name}\``))).toBe(true);
    }
  });
});

describe("a shop's own file", () => {
  it.each([
    ['orders', 'shopify', 'shopify.yaml'],
    ['orders', 'woocommerce', 'woocommerce.yaml'],
    ['orders', 'woocommerce-german', 'woocommerce.yaml'],
    ['orders', 'magento', 'magento.yaml'],
    ['refunds', 'shopify-transactions', 'shopify-refunds.yaml'],
    ['refunds', 'woocommerce', 'woocommerce-refunds.yaml'],
  ])('as %s: %s.csv names its map', async (kind, name, map) => {
    const lines = [];
    const columns = IMPORT_COLUMNS[kind] ?? [];
    for await (const line of csvLines(join(EXPORTS, `${name}.csv`), columns)) lines.push(line);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ kind: 'problem', line: 1 });
    expect(JSON.stringify(lines)).toContain(`docs/maps/${map}`);
  });

  it('is only guessed where all its columns are there', () => {
    expect(shopHint(['Name', 'Total'], ['order_no'])).toBe(null);
  });

  it('has a map that exists', () => {
    for (const { map } of SHOP_EXPORTS) {
      expect(existsSync(join(packageRoot(), 'docs', 'maps', map)), map).toBe(true);
    }
  });
});
