// What a file is that is named .csv and is none: told by its first bytes, with what to do about it.
// Pure. Neighbour: inputText.ts, which asks before it reads the text.

interface Kind {
  readonly begins: readonly number[];
  readonly is: string;
}

const UTF_16 =
  'is UTF-16 text: save the file as UTF-8 CSV, or give its encoding in a map: utf-16le';

/** The beginnings are those of each format's own definition. */
const KINDS: readonly Kind[] = [
  { begins: [0x1f, 0x8b], is: 'is compressed (gzip): unpack it and import what is in it' },
  {
    begins: [0x28, 0xb5, 0x2f, 0xfd],
    is: 'is compressed (zstd): unpack it and import what is in it',
  },
  {
    begins: [0x50, 0x4b, 0x03, 0x04],
    is: 'is a ZIP archive or an Excel workbook: unpack it, or save its sheet as CSV',
  },
  { begins: [0xd0, 0xcf, 0x11, 0xe0], is: 'is an Excel workbook: save its sheet as CSV' },
  { begins: [0x25, 0x50, 0x44, 0x46, 0x2d], is: 'is a PDF: ask the acquirer for its CSV file' },
];

/** Why a file with these first bytes is no text of `encoding`; null: it may be one. */
export function notTextBytes(bytes: Uint8Array, encoding: string): string | null {
  const found = KINDS.find(({ begins }) => begins.every((byte, at) => bytes[at] === byte));
  if (found !== undefined) return found.is;
  return encoding !== 'utf-16le' && isUtf16(bytes) ? UTF_16 : null;
}

/** Its byte order mark, or the empty half of a first letter that every header begins with. */
function isUtf16([first, second]: Uint8Array): boolean {
  if (first === undefined || second === undefined) return false;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || (first === 0) !== (second === 0);
}
