// Reads JSON where money depends on it: an answer that two readers could understand differently
// is not understood at all. Refuses bad UTF-8, a byte order mark, duplicate keys, `__proto__`,
// deep nesting, NUL and lone surrogates. Never throws. Used by the readers of money answers.

const DEPTH_MAX = 8;
const BACKSLASH = 92;
const QUOTE = 34;

type StrictJson = { kind: 'object'; value: Record<string, unknown> } | Refused;

interface Refused {
  kind: 'refused';
  reason: string;
}

interface StrictJsonOptions {
  /** Numbers come as the texts that stand there: JSON.parse would round large amounts. */
  numbersAsText?: boolean;
}

export function readStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): StrictJson {
  let text: string;
  try {
    // ignoreBOM keeps the mark in the text, where JSON.parse refuses it.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused('the answer is not UTF-8');
  }
  // Depth first: the cap must hold before any parser walks the text.
  const problem = scan(text);
  if (problem !== null) return refused(problem);
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (options.numbersAsText === true) value = JSON.parse(quoteNumbers(text));
  } catch {
    return refused('the answer is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refused('the answer is no JSON object');
  }
  return { kind: 'object', value: value as Record<string, unknown> };
}

/** The same JSON with each number outside of strings in quotes. */
function quoteNumbers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}

/**
 * One walk over the tokens. It relies on nothing but strings and brackets, so it may be wrong about
 * text that is not JSON; that text fails in JSON.parse afterwards.
 */
function scan(text: string): string | null {
  const keys: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{' || char === '[') {
      if (keys.length === DEPTH_MAX) return `the answer is nested deeper than ${DEPTH_MAX}`;
      keys.push(new Set());
    } else if (char === '}' || char === ']') {
      keys.pop();
    } else if (char === '"') {
      const end = endOfString(text, at);
      if (end === -1) return 'the answer is not JSON';
      const problem = checkString(text, at, end, keys.at(-1));
      if (problem !== null) return problem;
      at = end;
    }
  }
  return null;
}

/** Index of the closing quote of the string that opens at `start`, -1 when it never closes. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at;
    if (char === BACKSLASH) at += 1;
  }
  return -1;
}

function checkString(
  text: string,
  start: number,
  end: number,
  keys: Set<string> | undefined,
): string | null {
  const decoded = decodeString(text.slice(start, end + 1));
  if (decoded === null) return 'the answer is not JSON';
  if (decoded.includes('\0')) return 'the answer holds a NUL character';
  if (/\p{Surrogate}/u.test(decoded)) return 'the answer holds half a character';
  if (keys === undefined || !isKey(text, end + 1)) return null;
  if (decoded === '__proto__') return 'the answer names __proto__';
  if (keys.has(decoded)) return 'the answer names a field twice';
  keys.add(decoded);
  return null;
}

function isKey(text: string, after: number): boolean {
  const colon = /[ \t\r\n]*:/y;
  colon.lastIndex = after;
  return colon.test(text);
}

function decodeString(token: string): string | null {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return null;
  }
}
