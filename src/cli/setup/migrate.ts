// `tieout migrate up|down|status`: the tables of tieout and of its queue, brought forward or back.

import { Command, InvalidArgumentError } from 'commander';
import type { QueueConnection } from '../../../jobs/backend.js';
import { migrateQueues } from '../../../jobs/queues.js';
import { migrateDown, migrateUp, migrationStatus } from '../../database/migrate.js';
import { type DatabaseRoles, grantRoles } from '../../database/server/grantRoles.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';

export function migrateCommand(): Command {
  const root = new Command('migrate');
  root
    .command('up')
    .description('apply what is pending, as the owner of the tables')
    .option('--writer <role>', 'give this role of the server what the program needs, and no more')
    .option('--reader <role>', 'let this role read all but what opens a door')
    .action(async (roles: DatabaseRoles, command: Command) => {
      await withApp(command, (app) => up(app, roles), { anySchema: true });
    });
  root
    .command('down')
    .argument('[count]', 'how many migrations to take back', wholeNumber, 1)
    .requiredOption('--yes', 'their data is lost: say that this is meant')
    .description('take back the newest migrations, with their data')
    .action(async (count: number, _flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const undone = await migrateDown(app.owner, count);
          printLines(undone.map((name) => `took back ${name}`));
          return 0;
        },
        { anySchema: true },
      );
    });
  root
    .command('status', { isDefault: true })
    .description('which migrations are applied')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const status = await migrationStatus(app.owner);
          if (wantsJson(command)) printJson(status);
          else {
            printLines([
              ...status.applied.map((name) => `applied  ${name}`),
              ...status.pending.map((name) => `pending  ${name}`),
              ...status.changed.map((name) => `CHANGED  ${name} since it was applied`),
              ...status.missing.map((name) => `UNKNOWN  ${name}: of a newer tieout`),
            ]);
          }
          return status.changed.length + status.missing.length > 0 ? 1 : 0;
        },
        { anySchema: true },
      );
    });
  return root;
}

async function up(app: App, roles: DatabaseRoles): Promise<number> {
  const applied = await migrateUp(app.owner);
  await migrateQueues(queueOf(app));
  await grantRoles(app.owner, roles);
  printLines(applied.length > 0 ? applied.map((name) => `applied ${name}`) : [UP_TO_DATE]);
  printLines(grantedWords(roles));
  return 0;
}

function grantedWords({ writer, reader }: DatabaseRoles): string[] {
  return [
    ...(writer === undefined ? [] : [`the program may work as ${writer}`]),
    ...(reader === undefined ? [] : [`auditors may read as ${reader}`]),
  ];
}

const UP_TO_DATE = 'the database is up to date';

function queueOf(app: App): QueueConnection {
  return app.config.queue.kind === 'redis'
    ? { kind: 'redis', url: app.config.queue.url }
    : { kind: 'database', connection: app.owner };
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('a number from 1 on.');
  return Number(text);
}
