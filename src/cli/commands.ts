// The list of commands: name, what it is for, and the file to load when it is asked for. A command
// that is not asked for is not loaded: loading all of them would cost each one half a second.

import type { Entry } from './commandTree.js';

/** In the order of `tieout --help`. */
export const COMMANDS: readonly Entry[] = [
  {
    name: 'demo',
    about: 'one whole night on the sandbox gateway, with the embedded database',
    load: async () => (await import('./setup/demo.js')).demoCommand,
  },
  {
    name: 'init',
    about: 'write a commented tieout.yaml and gateway-profile.yaml to start from',
    load: async () => (await import('./setup/init.js')).initCommand,
  },
  {
    name: 'run',
    about: 'the work for one business date: pull, compare, plan, send, confirm, report',
    load: async () => (await import('./runs/run.js')).runCommand,
  },
  {
    name: 'start',
    about: 'clock, workers and web in one process: a whole small installation',
    load: async () => (await import('./runs/web.js')).startCommand,
  },
  {
    name: 'schedule',
    about: 'the clock: begins each night at schedule.cron, with workers of its own',
    load: async () => (await import('./runs/schedule.js')).scheduleCommand,
  },
  {
    name: 'work',
    about: 'workers alone: as many of these as are wanted share the work of a night',
    load: async () => (await import('./runs/schedule.js')).workCommand,
  },
  {
    name: 'web',
    about: 'the console for people, and the address for notifications of the gateway',
    load: async () => (await import('./runs/web.js')).webCommand,
  },
  {
    name: 'status',
    about: 'last night in one sentence',
    load: async () => (await import('./runs/status.js')).statusCommand,
  },
  {
    name: 'runs',
    about: 'all nights, and one of them in full',
    load: async () => (await import('./runs/runs.js')).runsCommand,
  },
  {
    name: 'order',
    about: "one order's whole story: ledger, looks, breaks, instructions, answers",
    load: async () => (await import('./breaks/order.js')).orderCommand,
  },
  {
    name: 'breaks',
    about: 'what differs: list, show, note, assign, waive, reopen; one by one or a whole cause',
    load: async () => (await import('./breaks/breaks.js')).breaksCommand,
  },
  {
    name: 'instructions',
    about: 'what is to be sent, waits or is unknown: list, show, approve, reject, resolve, replan',
    load: async () => (await import('./instructions/instructions.js')).instructionsCommand,
  },
  {
    name: 'authorisations',
    about: 'money that is reserved and not taken: what lapses when, and what stands in the way',
    load: async () => (await import('./runs/authorisations.js')).authorisationsCommand,
  },
  {
    name: 'decide',
    about: 'decisions back by Excel: what was filled in the workbook of a night, row by row',
    load: async () => (await import('./reports/decide.js')).decideCommand,
  },
  {
    name: 'send',
    about: 'send what was approved since the run, after a fresh look',
    load: async () => (await import('./runs/send.js')).sendCommand,
  },
  {
    name: 'jobs',
    about: 'failed queue jobs, and what is behind them',
    load: async () => (await import('./runs/jobs.js')).jobsCommand,
  },
  {
    name: 'brake',
    about: 'stop all sending, let it go again, or say what stops it; looks go on',
    load: async () => (await import('./runs/brake.js')).brakeCommand,
  },
  {
    name: 'import',
    about: 'bring rows into the ledger: all lines or none',
    load: async () => (await import('./ledger/import.js')).importCommand,
  },
  {
    name: 'settlement',
    about: 'what became of the captured money: settled, paid out, what is open, the fees',
    load: async () => (await import('./settlement/settlement.js')).settlementCommand,
  },
  {
    name: 'report',
    about: 'the workbooks of a night, or its rows as CSV or NDJSON',
    load: async () => (await import('./reports/report.js')).reportCommand,
  },
  {
    name: 'export',
    about: 'what became of each instruction, for the shop or the ERP',
    load: async () => (await import('./ledger/export.js')).exportCommand,
  },
  {
    name: 'days',
    about: 'business days: what each opens and closes with; close, lock and reopen them',
    load: async () => (await import('./reports/days.js')).daysCommand,
  },
  {
    name: 'retention',
    about: 'how long what looks brought is kept: the months that are there; remove old ones',
    load: async () => (await import('./setup/retention.js')).retentionCommand,
  },
  {
    name: 'redact',
    about: 'take card numbers that slipped in out of notes and reasons, on record',
    load: async () => (await import('./setup/redact.js')).redactCommand,
  },
  {
    name: 'verify',
    about: 'is everything that was sealed still there, and unchanged?',
    load: async () => (await import('./reports/verify.js')).verifyCommand,
  },
  {
    name: 'gateway',
    about: 'one call of the gateway, as a person would try it',
    load: async () => (await import('./gateway/gateway.js')).gatewayCommand,
  },
  {
    name: 'sandbox',
    about: 'a gateway to try things on: the same wire, invented orders, no real money',
    load: async () => (await import('./gateway/sandbox.js')).sandboxCommand,
  },
  {
    name: 'backup',
    about: 'everything that is in the database, into a folder, while the program goes on',
    load: async () => (await import('./setup/backup.js')).backupCommand,
  },
  {
    name: 'restore',
    about: 'a backup into an empty database; sending stays frozen until a person lets it go',
    load: async () => (await import('./setup/restore.js')).restoreCommand,
  },
  {
    name: 'migrate',
    about: 'bring the database to this version, or back',
    load: async () => (await import('./setup/migrate.js')).migrateCommand,
  },
  {
    name: 'doctor',
    about: 'is this installation fit to run at night? Changes nothing',
    load: async () => (await import('./setup/doctor.js')).doctorCommand,
  },
  {
    name: 'users',
    about: 'who may use the console: list, add, role, link, disable, enable',
    load: async () => (await import('./setup/users.js')).usersCommand,
  },
  {
    name: 'completion',
    about: 'what a shell needs to complete commands and options: bash, zsh, fish',
    load: async () => (await import('./completion.js')).completionOf(COMMANDS),
  },
];
