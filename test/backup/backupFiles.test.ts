// What a manifest says of a file: rows are counted as they pass, since the server's own count may
// come after the end of the stream, and a backup that counts wrongly cannot be restored.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { writeRows } from '../../src/backup/backupFiles.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-rows-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('rows are counted as they pass, wherever the pieces are cut', async () => {
  const pieces = ['1\tone\n2\ttw', 'o\\nlines\n', '', '3\t\\N\n4', '\tfour\n'].map((text) =>
    Buffer.from(text),
  );
  const { rows } = await writeRows(join(folder, 'rows.copy.gz'), Readable.from(pieces));
  expect(rows).toBe(4);
});
