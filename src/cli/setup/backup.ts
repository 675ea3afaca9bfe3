// `tieout backup DIR`: the whole database, but for the queue, into a folder of one file a table,
// with digests. Works on any PostgreSQL, the embedded one too, while a run is under way. Holds no
// secret of the configuration: tieout.yaml and the folder of the journal are not in it.

import { Command } from 'commander';
import { writeBackup } from '../../backup/backupFiles.js';
import { dumpTables } from '../../backup/backupStore.js';
import { migrationStatus } from '../../database/migrate.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<folder>', 'a new folder; one that is there is never written over')
    .option('--json', 'print one JSON document')
    .action(async (folder: string, _flags: object, command: Command) => {
      await withApp(command, (app) => backUp(app, folder, wantsJson(command)), { anySchema: true });
    });
}

async function backUp(app: App, folder: string, asJson: boolean): Promise<number> {
  const { applied } = await migrationStatus(app.connection);
  const about = { version: app.version, migrations: applied };
  const { manifest, sha256 } = await writeBackup(folder, (draft) =>
    dumpTables(app.connection, draft, about, (done, total) => app.progress('backup', done, total)),
  );
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = manifest.tables.reduce((sum, table) => sum + table.bytes, 0);
  const { takenAt, views } = manifest;
  if (asJson) printJson({ folder, takenAt, tables: manifest.tables.length, rows, bytes, sha256 });
  else {
    printLines([
      `${folder}: ${rows} rows of ${manifest.tables.length} tables as of ${takenAt}`,
      `${bytes} bytes, compressed`,
      `sha256 of its manifest: ${sha256}`,
      ...views.map((view) => `${view} is a view of yours: its rows are not in the backup`),
    ]);
  }
  return 0;
}
