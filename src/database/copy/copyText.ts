// A value as PostgreSQL reads it in COPY's text format. Hot path: every column of every entry of
// every page goes through here. Neighbours: snapshotsStore.ts and ledgerStore.ts write rows with
// it.

const COPY_SPECIAL = /[\\\t\n\r\b\f\v]/;
const COPY_SPECIALS = /[\\\t\n\r\b\f\v]/g;
const COPY_ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

/** A value in COPY text format; null is \N. A NUL cannot be stored and is written as U+FFFD. */
export function copyText(value: string | null): string {
  if (value === null) return '\\N';
  const text = value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  if (!COPY_SPECIAL.test(text)) return text;
  return text.replace(COPY_SPECIALS, (char) => COPY_ESCAPES[char] ?? char);
}
