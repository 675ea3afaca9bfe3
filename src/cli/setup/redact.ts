// `tieout redact`: takes card numbers, and what else is named, out of words that people wrote, on
// record. With --check it only says where they stand. Exit 0, also where there is nothing.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { decisionKeys } from '../../core/decisions/decisionKeys.js';
import { TieoutError, UsageError } from '../../core/errors.js';
import { withoutCards } from '../../core/text/cardSpellings.js';
import { openDatabase } from '../../database/db.js';
import { isOwner } from '../../database/server/grantRoles.js';
import { type FoundWords, findWords, hasToGo } from '../../retention/redact.js';
import { dropDrafts, placeOf, type Redacted, redactTexts } from '../../retention/redactStore.js';
import type { App } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';

interface Flags {
  check?: true;
  words?: string;
  reason?: string;
}

const WORD_MIN = 4;

export function redactCommand(): Command {
  return new Command('redact')
    .description(
      'take card numbers that slipped in out of notes and reasons, on record (as the owner)',
    )
    .option('--check', 'only say where they stand')
    .option('--words <file>', 'what else has to go, one on each line, as it stands there')
    .option('--reason <text>', 'why, for the record')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--json', 'print one JSON document')
    .action((flags: Flags, command: Command) => {
      const { check, reason } = flags;
      if (check !== true && (reason ?? '').trim() === '') {
        throw new UsageError('--reason TEXT says why, for the record (or --check only looks)');
      }
      const words = flags.words === undefined ? [] : readWords(flags.words);
      return withApp(command, (app) => redact(app, words, flags, command));
    });
}

/** A short one would stand in every second text. */
function readWords(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`--words: ${file} cannot be read`);
  }
  const words = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const short = words.findIndex((word) => word.trim().length < WORD_MIN);
  if (short >= 0)
    throw new UsageError(`--words: word ${short + 1} has less than ${WORD_MIN} signs`);
  return words;
}

async function redact(
  app: App,
  words: readonly string[],
  { check, reason = '' }: Flags,
  command: Command,
): Promise<number> {
  const owned = openDatabase(app.owner);
  try {
    const found = await findWords(owned, words);
    if (check !== true && found.texts.length > 0) {
      if (!(await isOwner(owned))) {
        throw new TieoutError(
          'redact changes what is history: let database.user be the role that owns the tables',
        );
      }
      const who = await deciderHere(command, app);
      const keys = decisionKeys(app.config.decisions);
      await redactTexts(owned, found.texts, { who, keys, reason: withoutCards(reason.trim()) });
    }
    const isOne = (text: string): boolean => hasToGo(text, words);
    const drafts = check === true ? 0 : await dropDrafts(owned, isOne);
    if (wantsJson(command)) printJson(documentOf(found, check === true));
    else printLines([...linesOf(found, check === true), ...draftLines(drafts)]);
    return 0;
  } finally {
    await owned.close();
  }
}

function documentOf({ texts, waiting, elsewhere }: FoundWords, isCheck: boolean): object {
  return {
    redacted: !isCheck && texts.length > 0,
    texts: texts.map((text) => {
      const { relation, key, cleaned, signs, link_id } = text;
      return {
        relation,
        key,
        field: placeOf(text),
        text: cleaned,
        signs,
        sealed: link_id !== null,
      };
    }),
    inTheShopsView: elsewhere,
    namesThatStay: waiting,
  };
}

function linesOf({ texts, waiting, elsewhere }: FoundWords, isCheck: boolean): string[] {
  return [
    ...texts.map(lineOf),
    ...(texts.length + waiting + elsewhere === 0
      ? ['Nothing that has to go stands in what people wrote.']
      : []),
    ...(texts.length > 0 && !isCheck
      ? [
          `${texts.length} text(s) were changed, on record: \`tieout verify\` says so from now ` +
            'on. Backups, workbooks and messages from before still have the words.',
        ]
      : []),
    ...(waiting > 0
      ? [
          `${waiting} name(s) of who asked for what waits or may yet be planned, or of whom it ` +
            'pays, stay: they say who may not approve it, and what was approved. ' +
            'Once it is over the same command takes them out.',
        ]
      : []),
    ...(elsewhere > 0
      ? [`${elsewhere} text(s) of refunds stand in the shop's own view: it has to change them.`]
      : []),
  ];
}

function draftLines(drafts: number): string[] {
  return drafts === 0 ? [] : [`${drafts} form(s) that were typed and not sent were emptied.`];
}

function lineOf(text: Redacted): string {
  const { relation, key, cleaned, signs } = text;
  const row = `${relation} ${Object.values(key).join(' ')}`;
  return `${row}, ${placeOf(text)}: ${signs} sign(s): ${cleaned}`;
}
