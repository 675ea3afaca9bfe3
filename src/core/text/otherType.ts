// A value of the gateway's that is no text where the document prints one: what came is said, so
// that a person can ask the acquirer about it. It stands in parentheses, in the place of the text,
// has no meaning whatever the profile lists, and moves no money. Pure.

const STAND_IN = /^\((?:missing|null|number|boolean|list|object|no readable text)\)/;

/** "(number) 3000", "(list)"; null: it is a text, or nothing is there. */
export function otherType(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === 'string') return null;
  if (typeof value === 'object') return Array.isArray(value) ? '(list)' : '(object)';
  return `(${typeof value}) ${String(value)}`;
}

/** The same of a field that may not be left out. */
export function noText(value: unknown): string {
  if (typeof value === 'string') return '(no readable text)';
  return otherType(value) ?? (value === undefined ? '(missing)' : '(null)');
}

/** Whether a text stands for a value that was none. */
export function isStandIn(text: string): boolean {
  return STAND_IN.test(text);
}
