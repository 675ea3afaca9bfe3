// `tieout restore DIR`: puts a backup into an empty database. The database then knows nothing of
// what was sent after the backup, so all sending is frozen before the rows can be seen, and stays
// so until a person says `tieout brake off`. The journal of permits of this host, which a backup
// never holds, tells how many sends are missing.

import { Command } from 'commander';
import { migrateQueues } from '../../../jobs/queues.js';
import { notePutBack } from '../../audit/signedHeads.js';
import { readBackup } from '../../backup/backupFiles.js';
import { type BackupKey, readBackupKey } from '../../backup/backupKey.js';
import type { BackupManifest } from '../../backup/manifest.js';
import { assertEmpty, lastOutcome, restoreTables } from '../../backup/restoreStore.js';
import { InputError, TieoutError } from '../../core/errors.js';
import type { Database } from '../../database/db.js';
import { openDatabase } from '../../database/db.js';
import { migrateUp, migrationStatus } from '../../database/migrate.js';
import { isOwner } from '../../database/server/grantRoles.js';
import { tellFrozen } from '../../outbox/writeAlerts.js';
import { thisMachine } from '../../processes/identity.js';
import { unknownPermits } from '../../send/journal/journalsStore.js';
import { openPermitJournal } from '../../send/journal/permitJournal.js';
import { enterLost } from '../../send/journal/putBacksStore.js';
import type { App } from '../app.js';
import { deciderOf, printJson, printLines, wantsJson, withApp } from '../context.js';

interface RestoreFlags {
  check?: true;
  keyFile?: string;
}

interface Given {
  folder: string;
  key: BackupKey | null;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<folder>', 'what `tieout backup` wrote')
    .option('--check', 'only read the backup, check its digests, say whose it is')
    .option('--key-file <file>', 'the key it was encrypted by: anything else is refused')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--json', 'print one JSON document')
    .action(async (folder: string, flags: RestoreFlags, command: Command) => {
      const key = flags.keyFile === undefined ? null : readBackupKey(flags.keyFile);
      const given = { folder, key };
      await withApp(
        command,
        (app) => (flags.check ? check(given, command) : restore(app, given, command)),
        { anySchema: true },
      );
    });
}

async function check({ folder, key }: Given, command: Command): Promise<number> {
  const { manifest, sha256 } = await readBackup(folder, key);
  const { takenAt, tables, sealing } = manifest;
  const by = sealing?.keyMark ?? null;
  if (wantsJson(command)) printJson({ folder, takenAt, tables: tables.length, sha256, key: by });
  else {
    printLines([
      `${folder} is whole: ${tables.length} tables as of ${takenAt}`,
      by === null
        ? 'It is not encrypted, and nobody vouches for it: whoever had the folder can have made it.'
        : `It is encrypted, and was written by who holds the key ${by}.`,
    ]);
  }
  return 0;
}

async function restore(app: App, given: Given, command: Command): Promise<number> {
  const { manifest, sha256 } = await readBackup(given.folder, given.key);
  await makeTables(app, manifest);
  const owned = openDatabase(app.owner);
  try {
    return await putIn(app, owned, { ...given, manifest, sha256 }, command);
  } finally {
    await owned.close();
  }
}

async function putIn(
  app: App,
  db: Database,
  given: Given & { manifest: BackupManifest; sha256: string },
  command: Command,
): Promise<number> {
  const { manifest } = given;
  if (!(await isOwner(db))) {
    throw new TieoutError(
      'restore changes the tables themselves: let database.user be the role that owns them',
    );
  }
  await assertEmpty(db);
  const journal = await openPermitJournal(app.config.dataDir);
  try {
    const place = { journalId: journal.journalId, host: thisMachine(), place: journal.place };
    const order = { ...given, who: deciderOf(command, app), journal: place };
    // Before the rows can be seen: a process that dies in between leaves nobody wondering.
    const reason = `restored from the backup of ${manifest.takenAt}`;
    await notePutBack(app.config.dataDir, reason, app.log);
    await restoreTables(db, order, (done, total) => app.progress('restore', done, total));
    await migrateUp(app.owner, app.log);
    if (app.config.queue.kind === 'database') {
      await migrateQueues({ kind: 'database', connection: app.owner });
    }
    await tellFrozen(db, app.config, reason, new Date());
    const { permits } = await journal.read(null, null);
    const ids = permits.map(({ permitId }) => permitId);
    const lost = await unknownPermits(db, ids);
    await enterLost(db, thisMachine(), await journal.find(new Set(lost)));
    const missing = lost.length;
    const outcomes = await lastOutcome(db);
    if (wantsJson(command)) {
      printJson({ takenAt: manifest.takenAt, sendsNotInBackup: missing, lastOutcome: outcomes });
    } else printLines(wordsOf(app, manifest, missing, outcomes));
  } finally {
    await journal.close();
  }
  return 0;
}

/** The schema as the backup knew it; a newer one is made of it once the rows are in. */
async function makeTables(app: App, { migrations }: BackupManifest): Promise<void> {
  const status = await migrationStatus(app.owner);
  const ours = [...status.applied, ...status.pending];
  const strange = migrations.find((name, index) => ours[index] !== name);
  if (strange !== undefined) {
    throw new InputError(`the backup was made by another tieout: ${strange} is not known here`);
  }
  const ahead = status.applied.length - migrations.length;
  if (ahead > 0) {
    throw new InputError('the database is newer than the backup: restore into one without tables');
  }
  await migrateUp(app.owner, app.log, undefined, migrations.at(-1) ?? null);
}

const TO_OTHERS =
  'Where the program signs in as other roles, they have no rights yet: first ' +
  '`tieout migrate up --writer ROLE --reader ROLE`, as here.';

function wordsOf(
  { config }: App,
  manifest: BackupManifest,
  missing: number,
  outcomes: string,
): string[] {
  const known =
    missing === 0
      ? 'The journal of permits here knows of no send after the backup; other hosts may'
      : `The journal of permits here knows ${missing} send(s) that the backup does not`;
  return [
    `restored: the database as of ${manifest.takenAt}`,
    `All sending is frozen. ${known}.`,
    ...(config.database.kind === 'embedded' ? [] : [TO_OTHERS]),
    'Next: `tieout run` looks at the gateway and says what it finds; read it, then',
    '`tieout brake off --reason TEXT` lets the sending go.',
    `Outcomes end at ${outcomes}; new ones get numbers far behind: the shop reads on as it did.`,
    ...manifest.views.map((view) => `${view} was a view of yours: create it again.`),
  ];
}
