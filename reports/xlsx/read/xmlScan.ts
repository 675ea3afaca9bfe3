// XML of a file that somebody sent, gone through tag by tag as it arrives: no document type, no
// entity but the five that XML has, no prefix kept, and a limit on every length. A library would
// build the whole tree of a sheet of a million rows. It knows nothing of workbooks; neighbours:
// archive.ts gives the text, sheetRows.ts and bookParts.ts take the tags.

import { UsageError } from '../../../src/core/errors.js';

/** Between two tags: more than the longest text of a cell, escaped. */
const STRETCH_CHARS_MAX = 512 * 1024;
/** More than the longest list of cells that a program writes into one. */
const TAG_CHARS_MAX = 64 * 1024;
const DEPTH_MAX = 64;

interface XmlHandler {
  /** `attributes` as they stand; `attributeOf` reads one. */
  open(name: string, attributes: string): void;
  text(text: string): void;
  close(name: string): void;
}

/** Hands every tag and text to the handler, in order. */
export async function scanXml(pieces: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
  const names: string[] = [];
  let rest = '';
  for await (const piece of pieces) {
    rest += piece;
    rest = rest.slice(scanned(rest, names, handler));
    if (rest.length > STRETCH_CHARS_MAX) throw tooLong();
  }
  if (names.length > 0 || rest.trim() !== '') throw broken();
}

/** How far it came: what is left is not whole yet. */
function scanned(text: string, names: string[], handler: XmlHandler): number {
  let at = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    if (open === -1) return at;
    const next = text.charCodeAt(open + 1);
    const isTag = next !== EXCLAMATION && next !== QUESTION;
    const end = isTag ? endOfTag(text, open) : endOfOther(text, open);
    if (end === -1) return at;
    if (open > at && names.length > 0) handler.text(unescapedXml(text.slice(at, open)));
    if (isTag) takeTag(text, open, end, names, handler);
    else takeOther(text.slice(open, end), handler);
    at = end;
  }
}

const EXCLAMATION = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SLASH = 0x2f;
const END_OF_TAG = 0x3e;
const QUESTION = 0x3f;

/** Behind its last character; -1: it is not whole yet. */
function endOfTag(text: string, open: number): number {
  let quote = 0;
  for (let at = open + 1; at < text.length; at += 1) {
    if (at - open > TAG_CHARS_MAX) throw tooLong();
    const code = text.charCodeAt(at);
    if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) quote = code;
    else if (code === END_OF_TAG) return at + 1;
  }
  return -1;
}

function endOfOther(text: string, open: number): number {
  const [opening, closing] = OTHERS.find(([begin]) => text.startsWith(begin, open)) ?? ['<', '>'];
  const end = text.indexOf(closing, open + opening.length);
  return end === -1 ? -1 : end + closing.length;
}

const OTHERS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;
const CDATA_OPEN = '<![CDATA[';

function takeOther(markup: string, handler: XmlHandler): void {
  if (markup.startsWith(CDATA_OPEN)) handler.text(markup.slice(CDATA_OPEN.length, -3));
  else if (markup.startsWith('<?')) {
    if (/^<\?xml\s[^>]*encoding\s*=\s*["'](?!utf-?8["'])/i.test(markup)) {
      throw new UsageError('a part of the file is not in UTF-8');
    }
  } else if (!markup.startsWith('<!--')) {
    throw new UsageError('the file has a document type: it is refused');
  }
}

function takeTag(
  text: string,
  open: number,
  end: number,
  names: string[],
  handler: XmlHandler,
): void {
  const isClosing = text.charCodeAt(open + 1) === SLASH;
  const isEmpty = text.charCodeAt(end - 2) === SLASH;
  const from = open + (isClosing ? 2 : 1);
  const last = isEmpty && !isClosing ? end - 2 : end - 1;
  let at = from;
  let colon = from;
  for (let code = text.charCodeAt(at); at < last && code > BLANK; code = text.charCodeAt(at)) {
    at += 1;
    if (code === COLON) colon = at;
  }
  const full = text.slice(from, at);
  const name = colon === from ? full : text.slice(colon, at);
  if (name === '') throw broken();
  if (isClosing) {
    if (names.pop() !== full) throw broken();
    handler.close(name);
    return;
  }
  if (names.length >= DEPTH_MAX) throw broken();
  handler.open(name, text.slice(at, last));
  if (isEmpty) handler.close(name);
  else names.push(full);
}

const BLANK = 0x20;
const COLON = 0x3a;

/** The value of an attribute by its whole name, or by what stands behind its prefix (`:id`). */
export function attributeOf(attributes: string, name: string): string | null {
  // Each sign is met once: a pattern would go back over a name that nothing follows.
  for (let at = 0; ; ) {
    const equals = attributes.indexOf('=', at);
    if (equals === -1) return null;
    let open = equals + 1;
    while (attributes.charCodeAt(open) <= BLANK) open += 1;
    const quote = attributes[open];
    const end = quote === '"' || quote === "'" ? attributes.indexOf(quote, open + 1) : -1;
    if (end === -1) throw broken();
    const key = attributes.slice(at, equals).trim();
    const isIt = name.startsWith(':') ? key.endsWith(name) : key === name;
    if (isIt) return unescapedXml(attributes.slice(open + 1, end));
    at = end + 1;
  }
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
};

function unescapedXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&]{0,12});?/g, (whole, name: string) => {
    if (!whole.endsWith(';')) throw broken();
    const code = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
    const point =
      code === null ? Number.NaN : Number.parseInt(code[1] ?? code[2] ?? '', code[1] ? 16 : 10);
    const meant = NAMED[name] ?? (point <= 0x10ffff ? String.fromCodePoint(point) : undefined);
    if (meant === undefined)
      throw new UsageError('the file has an entity of its own: it is refused');
    return meant;
  });
}

function tooLong(): UsageError {
  return new UsageError('a part of the file is too long');
}

function broken(): UsageError {
  return new UsageError('the file is broken: a part of it is no XML');
}
