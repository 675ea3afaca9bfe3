// A workbook as a person fills it: the three cells of a row that carries an id, written as a
// spreadsheet writes a text, and the archive put together again.

import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';

const ROW = /<row .*?<\/row>/gs;
const BOUND = />(break|instruction) (\d+) /;
const BLANK = /<c r="[A-Z]+\d+" s="\d+"\/>/g;

/** `entryOf(of, id)`: what is written beside it, or null. Answers the file; null where no row was filled. */
export async function fillWorkbook(program, path, entryOf) {
  const { openArchive, entryText } = program.archive;
  const { openZip, openEntry, writeEntry, closeEntry, closeZip } = program.zip;
  const archive = openArchive(readFileSync(path));
  const sink = new PassThrough();
  const whole = buffer(sink);
  let rows = 0;
  const zip = openZip(sink, new Date('2026-03-02T06:00:00Z'));
  for (const name of archive.entries.keys()) {
    let text = '';
    for await (const part of entryText(archive, name)) text += part;
    if (name.startsWith('xl/worksheets/sheet'))
      text = text.replace(ROW, (row) => {
        const entered = filled(row, entryOf);
        if (entered !== row) rows += 1;
        return entered;
      });
    const entry = await openEntry(zip, name);
    await writeEntry(entry, Buffer.from(text));
    await closeEntry(entry);
  }
  await closeZip(zip);
  sink.end();
  return rows === 0 ? null : whole;
}

function filled(row, entryOf) {
  const [, of, id] = BOUND.exec(row) ?? [];
  const entry = id === undefined ? null : entryOf(of, id);
  if (entry === null) return row;
  const blanks = [...row.matchAll(BLANK)].map(([cell]) => cell).slice(-3);
  const { decision, reason, toWhom } = entry;
  return [decision, reason, toWhom].reduce((xml, text, at) => {
    if (text === undefined || blanks[at] === undefined) return xml;
    const cell = blanks[at].replace('/>', ` t="inlineStr"><is><t>${text}</t></is></c>`);
    return xml.replace(blanks[at], () => cell);
  }, row);
}
