// What a file is that is named .csv and is none: told by its first bytes, with what to do about it.
// Pure, and opens nothing: an archive is refused before any of it is unpacked.
// Neighbour: inputText.ts, which asks before it reads the text.

interface Kind {
  /** the first bytes as Latin-1: those of each format's own definition */
  readonly begins: string;
  readonly is: string;
}

const compressed = (how: string): string =>
  `is compressed (${how}): unpack it and import what is in it`;

const KINDS: readonly Kind[] = [
  { begins: '\x1f\x8b', is: compressed('gzip') },
  { begins: '\x28\xb5\x2f\xfd', is: compressed('zstd') },
  { begins: '\xfd7zXZ\x00', is: compressed('xz') },
  { begins: '7z\xbc\xaf\x27\x1c', is: compressed('7z') },
  {
    begins: 'PK\x03\x04',
    is: 'is a ZIP archive or an Excel workbook: unpack it, or save its sheet as CSV',
  },
  { begins: '\xd0\xcf\x11\xe0', is: 'is an Excel workbook: save its sheet as CSV' },
  { begins: '%PDF-', is: 'is a PDF: ask the acquirer for its CSV file' },
];

/** A page of a portal that was saved in place of the file, such as the one that asks to sign in. */
const HTML = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b/i;

/** As many bytes as tell it. */
const LOOKED_AT = 512;

/** Why a file with these first bytes is no text of `encoding`; null: it may be one. */
export function notTextBytes(bytes: Buffer, encoding: string): string | null {
  const head = bytes.subarray(0, LOOKED_AT).toString('latin1');
  const found = KINDS.find(({ begins }) => head.startsWith(begins));
  if (found !== undefined) return found.is;
  const wide = utf16(bytes);
  if (wide === encoding) return null;
  if (encoding.startsWith('utf-16')) {
    // Also where its first letter is none of ASCII: separators and line ends are.
    if (wide === null && head.includes('\0')) return null;
    return `is not ${encoding} text, which the map says it is (encoding)`;
  }
  if (wide !== null) {
    return `is UTF-16 text: save the file as UTF-8 CSV, or give its encoding in a map: ${wide}`;
  }
  return HTML.test(head) ? 'is a web page (HTML), and no file of lines: get it once more' : null;
}

/** By its byte order mark, or the empty half of a first letter that every header begins with. */
function utf16([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (first === undefined || second === undefined) return null;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if ((first === 0) === (second === 0)) return null;
  return second === 0 ? 'utf-16le' : 'utf-16be';
}
