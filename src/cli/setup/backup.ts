// `tieout backup DIR`: the whole database, but for the queue, into a folder of one file a table,
// with digests. Works on any PostgreSQL, the embedded one too, while a run is under way. Holds no
// secret of the configuration: tieout.yaml and the folder of the journal are not in it.

import { Command } from 'commander';
import { writeBackup } from '../../backup/backupFiles.js';
import { type BackupKey, makeBackupKey, readBackupKey } from '../../backup/backupKey.js';
import { dumpTables } from '../../backup/backupStore.js';
import { UsageError } from '../../core/errors.js';
import { countText } from '../../core/text/amounts.js';
import { migrationStatus } from '../../database/migrate.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<folder>', 'a new folder; one that is there is never written over')
    .option('--key-file <file>', 'encrypt it by this key')
    .option('--new-key <file>', 'make a key first, and encrypt it by that')
    .option('--json', 'print one JSON document')
    .action(async (folder: string, flags: BackupFlags, command: Command) => {
      const key = keyOf(flags);
      const asJson = wantsJson(command);
      await withApp(command, (app) => backUp(app, { folder, key }, asJson), { anySchema: true });
    });
}

interface BackupFlags {
  keyFile?: string;
  newKey?: string;
}

function keyOf({ keyFile, newKey }: BackupFlags): BackupKey | null {
  if (keyFile !== undefined && newKey !== undefined) {
    throw new UsageError('--key-file or --new-key, not both');
  }
  if (newKey !== undefined) return makeBackupKey(newKey);
  return keyFile === undefined ? null : readBackupKey(keyFile);
}

async function backUp(
  app: App,
  { folder, key }: { folder: string; key: BackupKey | null },
  asJson: boolean,
): Promise<number> {
  const { applied } = await migrationStatus(app.connection);
  const about = { version: app.version, migrations: applied };
  const { manifest, sha256 } = await writeBackup(folder, key, (draft, seal) =>
    dumpTables(app.connection, draft, { ...about, seal }, (done, total) =>
      app.progress('backup', done, total),
    ),
  );
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = manifest.tables.reduce((sum, table) => sum + table.bytes, 0);
  const { takenAt, views } = manifest;
  if (asJson) printJson({ folder, takenAt, tables: manifest.tables.length, rows, bytes, sha256 });
  else {
    printLines([
      `${folder}: ${countText(rows)} rows of ${manifest.tables.length} tables as of ${takenAt}`,
      `${bytes} bytes, compressed`,
      `sha256 of its manifest: ${sha256}`,
      ...(key === null ? [] : [`encrypted by the key ${key.mark}: keep it somewhere else`]),
      ...views.map((view) => `${view} is a view of yours: its rows are not in the backup`),
    ]);
  }
  return 0;
}
