// docs/GATEWAY.md has the document row by row: exactly its names, message by message, in files and
// tests that there are, with keys that the profile has.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHOWN } from '../../src/gateway/document/profileShown.js';
import { tableIn } from '../support/papers.js';
import { ROOT, textOf } from '../support/sourceFiles.js';
import {
  APM_ANSWER,
  APM_REQUEST,
  BATCH_ANSWER,
  BATCHES,
  DIRECT_ANSWER,
  DIRECT_REQUEST,
  FIXED_INPUTS,
  NOT_TAKEN_UP,
  PAYOUT_ANSWER,
  PAYOUT_REQUEST,
  QUERY_ANSWER,
  SCRIPT_INPUTS,
} from './documentFields.js';

const entries = (which: 'sent' | 'got'): string[] =>
  Object.entries(BATCHES).flatMap(([name, batch]) =>
    batch[which].map((field) => `${name}_orders[].${field}`),
  );

const SECTIONS: readonly [string, readonly string[]][] = [
  ['Every message', ['merchant_id', 'account_id', 'encryption_data']],
  ['Direct payment, request', [...DIRECT_REQUEST, 'the service']],
  ['Direct payment, answer', DIRECT_ANSWER],
  ['Alternative payment method, request', APM_REQUEST],
  ['Alternative payment method, answer', APM_ANSWER],
  ['Hosted page, answer', [...FIXED_INPUTS, ...SCRIPT_INPUTS]],
  ['Query, request and answer', QUERY_ANSWER],
  ['Batches, request', entries('sent')],
  ['Batches, answer', [...BATCH_ANSWER, ...entries('got')]],
  ['Payout, request', PAYOUT_REQUEST],
  [
    'Payout, answer',
    [...PAYOUT_ANSWER, 'beneficiary.bank_details.local_clearing_system', 'encryption_data'],
  ],
];

/** The sections of the document that have no fields, by what stands before the colon. */
const SENTENCES = ['States', 'Endpoints', 'Authentication', 'Events', 'Errors', 'Limits'];
const PATHS = ['authorise', 'checkout', 'retrievalTrans', ...Object.keys(BATCHES), 'payout'];

const paper = textOf('docs/GATEWAY.md');
const [, rowByRow = ''] = paper.split('\n## The document, row by row\n');

function rowsOf(title: string): string[][] {
  const [, section] = rowByRow.split(`\n### ${title}\n`);
  if (section === undefined) throw new Error(`docs/GATEWAY.md has no ${title}`);
  return tableIn(section).slice(2);
}

const spans = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

/** Names of a cell; one that ends in a point stands before those behind it. */
function namesIn(cell: string): string[] {
  let before = '';
  return spans(cell).flatMap((name) => {
    if (name.endsWith('.')) before = name;
    return name.endsWith('.') ? [] : [before + name];
  });
}

const fileOf = (name: string, folder: string): string =>
  /^(src|test)\//.test(name) ? name : `${folder}/${name}`;

const ALL = [...SECTIONS.map(([title]) => title), 'What it says in sentences and lists'];
const ROWS = ALL.flatMap((title) => rowsOf(title).map((cells) => ({ title, cells })));

describe('the table of rows', () => {
  it.each(SECTIONS)(
    '%s: has the fields of the document, each once, and no other',
    (title, names) => {
      const printed = rowsOf(title).flatMap(([fields = '']) => namesIn(fields));
      expect(printed.sort()).toEqual([...names].sort());
    },
  );

  it('has what the document says without fields', () => {
    const firsts = rowsOf('What it says in sentences and lists').map(([first = '']) => first);
    const absent = [...SENTENCES, 'Versioning'].filter(
      (section) => !firsts.some((first) => first.startsWith(section)),
    );
    expect(absent).toEqual([]);
    const ends = firsts.filter((first) => first.startsWith('Endpoints:')).join(' ');
    expect(PATHS.filter((path) => !ends.includes(`\`/v1/${path}\``))).toEqual([]);
  });

  it('names files and tests that there are, in every row', () => {
    const wrong = ROWS.flatMap(({ cells: [first, read = '', tested = ''] }) => [
      ...(/^not read: /.test(read) ? [] : filesIn(read, 'src/gateway', first)),
      ...(/^nothing to test$/.test(tested) ? [] : filesIn(tested, 'test/gateway', first)),
    ]);
    expect(wrong).toEqual([]);
  });

  // The inputs of the form are read whatever they are called.
  const named = SECTIONS.filter(([title]) => title !== 'Hosted page, answer');
  it('names a file in which each field stands', () => {
    const strayed = named
      .flatMap(([title]) => rowsOf(title))
      .flatMap(([fields = '', read = '']) => {
        const text = spans(read)
          .map((name) => textOf(fileOf(name, 'src/gateway')))
          .join('\n');
        const names = spans(fields).map((path) => /(\w[\w ]*)(\[\])?$/.exec(path)?.[1] ?? '');
        return read.startsWith('not read: ')
          ? []
          : names.filter((name) => name !== '' && !new RegExp(`\\b${name}\\b`).test(text));
      });
    expect(strayed).toEqual([]);
  });

  it('leaves unread what the test of answers lists, with a reason, and nothing else', () => {
    const unread = ROWS.filter(({ cells }) => cells[1]?.startsWith('not read: ')).map(
      ({ title, cells: [fields = ''] }) => `${title}: ${fields}`,
    );
    expect(unread).toEqual([
      expect.stringContaining('Hosted page, answer: `merNo`'),
      ...Object.keys(NOT_TAKEN_UP).map((name) =>
        name.replace(/^a payout: (.*)$/, 'Payout, answer: `$1`'),
      ),
      expect.stringContaining('caller addresses are registered'),
    ]);
  });

  it('names keys of the profile, and no row is done by halves', () => {
    const keys = Object.keys(SHOWN);
    const isKey = (name: string) => keys.some((key) => key === name || key.startsWith(`${name}.`));
    const named = ROWS.flatMap(({ cells }) => spans(cells[3]?.split(/ of | alone |;/)[0] ?? ''));
    const elsewhere = ['accounts', 'gateway.baseUrl', 'web.notifications', '0000', '1', 'REJECT'];
    expect(named.filter((name) => !isKey(name) && !elsewhere.includes(name))).toEqual([]);
    expect(ROWS.filter(({ cells }) => /part(ly|ial\b)|later/i.test(cells.join(' ')))).toEqual([]);
    expect(ROWS.filter(({ cells }) => cells.length !== 4)).toEqual([]);
  });
});

/** What is wrong with the files of a cell. */
function filesIn(cell: string, folder: string, row = ''): string[] {
  const names = spans(cell).map((name) => fileOf(name, folder));
  if (names.length === 0) return [`${row}: no file`];
  return names.filter((name) => !existsSync(join(ROOT, name)));
}
