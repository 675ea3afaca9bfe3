// Holds a message that somebody wants to send to the types of the document: text, amount, number,
// record, list. It names fields and never repeats their values, since one may be a card number.
// A field that the document does not print is allowed, because the acquirer may ask for more, and
// is named so that a slip of the keyboard is seen. Pure; the tables are in *Shapes.ts.

export type Shape =
  /** Any text. */
  | 'text'
  /** Digits, a point, two digits, or as the profile's `currencies` has it. */
  | 'amount'
  /** Integer-looking text. */
  | 'whole'
  /** YYYY-MM-DD. */
  | 'date'
  | 'uuid'
  | 'integer'
  | 'number'
  | { record: Readonly<Record<string, Shape>> }
  | { list: Shape };

export type RecordShape = Readonly<Record<string, Shape>>;

interface ShapeReport {
  /** What makes the message one that must not be sent; null: nothing. */
  problem: string | null;
  /** Paths of fields that the document does not print. */
  undocumented: string[];
}

/** The document shows no length; far above what any of its fields could need. */
const TEXT_CHARS_MAX = 65_536;
const LIST_ENTRIES_MAX = 1_000;
const FIELDS_MAX = 10_000;

/** `isAmount`: whether a text is an amount in the currency of the message. */
export function checkShape(
  shape: RecordShape,
  message: unknown,
  isAmount: (text: string) => boolean,
): ShapeReport {
  const report: ShapeReport = { problem: null, undocumented: [] };
  const check: Check = { isAmount, report, fields: 0 };
  report.problem = recordProblem(check, shape, message, '');
  return report;
}

interface Check {
  isAmount: (text: string) => boolean;
  report: ShapeReport;
  fields: number;
}

function recordProblem(
  check: Check,
  shape: RecordShape,
  value: unknown,
  path: string,
): string | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return path === '' ? 'the message must be an object' : `${path} must be an object`;
  }
  for (const [name, part] of Object.entries(value)) {
    check.fields += 1;
    if (check.fields > FIELDS_MAX) return `the message has more than ${FIELDS_MAX} fields`;
    const at = path === '' ? name : `${path}.${name}`;
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined) check.report.undocumented.push(at);
    const problem =
      known === undefined ? unknownProblem(part, at) : valueProblem(check, known, part, at);
    if (problem !== null) return problem;
  }
  return null;
}

/** A field nobody described may hold text only: anything deeper would go out unread. */
function unknownProblem(value: unknown, path: string): string | null {
  return typeof value === 'string' ? textProblem(value, path) : `${path} is not in the document`;
}

function valueProblem(check: Check, shape: Shape, value: unknown, path: string): string | null {
  if (value === undefined) return null;
  if (typeof shape === 'object') {
    return 'list' in shape
      ? listProblem(check, shape.list, value, path)
      : recordProblem(check, shape.record, value, path);
  }
  if (shape === 'integer' || shape === 'number') return numberProblem(shape, value, path);
  if (typeof value !== 'string') return `${path} must be text`;
  const problem = textProblem(value, path);
  if (problem !== null) return problem;
  return isOfShape(check, shape, value) ? null : `${path} must be ${WORDS[shape]}`;
}

const WORDS = {
  text: 'text',
  amount: 'an amount of the printed shape, such as 12.34',
  whole: 'a whole number of at most 18 digits in quotes, above zero',
  date: 'a day such as 2026-11-19',
  uuid: 'a UUID',
};

function isOfShape(check: Check, shape: keyof typeof WORDS, text: string): boolean {
  switch (shape) {
    case 'text':
      return true;
    case 'amount':
      return check.isAmount(text);
    case 'whole':
      return /^[1-9]\d{0,17}$/.test(text);
    case 'date':
      return isDay(text);
    case 'uuid':
      return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
  }
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function numberProblem(shape: 'integer' | 'number', value: unknown, path: string): string | null {
  if (shape === 'integer') return Number.isSafeInteger(value) ? null : `${path} must be an integer`;
  return Number.isFinite(value) ? null : `${path} must be a number`;
}

function listProblem(check: Check, shape: Shape, value: unknown, path: string): string | null {
  if (!Array.isArray(value)) return `${path} must be a list`;
  if (value.length > LIST_ENTRIES_MAX) return `${path} has more than ${LIST_ENTRIES_MAX} entries`;
  for (const [index, entry] of value.entries()) {
    const problem = valueProblem(check, shape, entry, `${path}[${index}]`);
    if (problem !== null) return problem;
  }
  return null;
}

/** NUL and half characters would be signed as one text and sent as another. */
function textProblem(text: string, path: string): string | null {
  if (text.length > TEXT_CHARS_MAX) return `${path} is longer than ${TEXT_CHARS_MAX} characters`;
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) return `${path} is no clean text`;
  return null;
}
