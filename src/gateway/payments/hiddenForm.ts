// Finds the one form of the hosted page's answer and its hidden inputs (document, "Redirect
// response"). A strict reader of tags, no browser: it runs no script, so inputs that a script adds
// are not seen, and what is cut off or could be read in two ways is refused. Never throws.

export interface HiddenForm {
  kind: 'form';
  /** As it stands in the page; may be relative to the address of the request. */
  action: string;
  /** Names and values of the hidden inputs that stand in the page. */
  inputs: ReadonlyMap<string, string>;
}

type FormReading = HiddenForm | { kind: 'refused'; reason: string };

const CHARS_MAX = 1_048_576;
const TAGS_MAX = 10_000;
const INPUTS_MAX = 500;
const ATTRIBUTES_MAX = 50;

export function readHiddenForm(html: string): FormReading {
  if (html.length > CHARS_MAX) return refused(`is larger than ${CHARS_MAX} characters`);
  const page: Page = { form: null, isOpen: false, inputs: new Map(), inHtml: false };
  let at = html.indexOf('<');
  for (let tags = 0; at !== -1; tags += 1) {
    if (tags === TAGS_MAX) return refused(`has more than ${TAGS_MAX} tags`);
    const token = tokenAt(html, at);
    if (typeof token === 'string') return refused(token);
    const problem = token.tag === null ? null : take(page, token.tag);
    if (problem !== null) return refused(problem);
    at = html.indexOf('<', token.end);
  }
  if (page.form === null) return refused('has no form');
  if (page.isOpen || page.inHtml) return refused('is cut off');
  return { kind: 'form', action: page.form, inputs: page.inputs };
}

interface Page {
  /** The action; null: no form yet. */
  form: string | null;
  isOpen: boolean;
  inputs: Map<string, string>;
  inHtml: boolean;
}

interface Tag {
  name: string;
  isEnd: boolean;
  attributes: Map<string, string>;
}

function refused(reason: string): FormReading {
  return { kind: 'refused', reason: `the page ${reason}` };
}

/** Null when the tag is fine where it stands. */
function take(page: Page, { name, isEnd, attributes }: Tag): string | null {
  if (name === 'html') page.inHtml = !isEnd;
  if (name === 'form') return isEnd ? endForm(page) : beginForm(page, attributes);
  if (name !== 'input' || isEnd || !page.isOpen) return null;
  if (attributes.get('type')?.trim().toLowerCase() !== 'hidden') return null;
  const input = attributes.get('name');
  if (input === undefined || input === '') return 'has a hidden input without a name';
  const value = attributes.get('value') ?? '';
  // The same input twice is only fine where both say the same.
  if ((page.inputs.get(input) ?? value) !== value) return 'has a hidden input twice';
  page.inputs.set(input, value);
  return page.inputs.size > INPUTS_MAX ? `has more than ${INPUTS_MAX} hidden inputs` : null;
}

function beginForm(page: Page, attributes: Map<string, string>): string | null {
  if (page.form !== null) return 'has more than one form';
  if (attributes.get('method')?.trim().toLowerCase() !== 'post') return 'has no form with POST';
  const action = attributes.get('action')?.trim() ?? '';
  if (!isAction(action)) return 'has a form that leads to no web address';
  page.form = action;
  page.isOpen = true;
  return null;
}

function endForm(page: Page): string | null {
  if (!page.isOpen) return 'ends a form that it did not begin';
  page.isOpen = false;
  return null;
}

/** An address, or one relative to the gateway's; anything with another scheme is none. */
function isAction(action: string): boolean {
  if (action === '' || /\p{Cc}/u.test(action)) return false;
  const base = 'https://gateway.invalid/';
  return URL.canParse(action, base) && /^https?:$/.test(new URL(action, base).protocol);
}

type Token = { tag: Tag | null; end: number };

/** What begins at a `<`: a tag, or something to step over. Text: why the page is refused. */
function tokenAt(html: string, at: number): Token | string {
  if (html.startsWith('<!--', at)) return skipTo(html, at + 4, '-->');
  if (html.startsWith('<![CDATA[', at)) return skipTo(html, at + 9, ']]>');
  if (/[!?]/.test(html[at + 1] ?? '')) return skipTo(html, at + 2, '>');
  const start = /<(\/?)([A-Za-z][A-Za-z0-9:-]{0,40})(?=[\s/>])/y;
  start.lastIndex = at;
  const [opening, slash, name = ''] = start.exec(html) ?? [];
  // A bare `<` in running text is text.
  if (opening === undefined) return { tag: null, end: at + 1 };
  const read = attributesAt(html, at + opening.length);
  if (typeof read === 'string') return read;
  const tag = { name: name.toLowerCase(), isEnd: slash === '/', attributes: read.attributes };
  if (tag.isEnd || !/^(script|style|textarea|title|template|noscript)$/.test(tag.name)) {
    return { tag, end: read.end };
  }
  // What stands inside these is no markup of the page.
  const close = new RegExp(`</${tag.name}[\\s/>]`, 'gi');
  close.lastIndex = read.end;
  const found = close.exec(html);
  return found === null ? 'is cut off' : { tag: null, end: found.index + found[0].length };
}

function skipTo(html: string, from: number, mark: string): Token | string {
  const end = html.indexOf(mark, from);
  return end === -1 ? 'is cut off' : { tag: null, end: end + mark.length };
}

/** Attributes up to the `>` of the tag. */
function attributesAt(
  html: string,
  from: number,
): { attributes: Map<string, string>; end: number } | string {
  const attributes = new Map<string, string>();
  const part = /[\s/]*(?:(>)|([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]+)))?)/y;
  part.lastIndex = from;
  while (attributes.size <= ATTRIBUTES_MAX) {
    const match = part.exec(html);
    if (match === null) return 'has a tag that is cut off or cannot be read';
    const [, close, name = '', double, single, bare] = match;
    if (close !== undefined) return { attributes, end: part.lastIndex };
    const key = name.toLowerCase();
    if (attributes.has(key)) return 'has a tag with an attribute twice';
    attributes.set(key, decodeEntities(double ?? single ?? bare ?? ''));
  }
  return `has a tag with more than ${ATTRIBUTES_MAX} attributes`;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
]);
const CODE_POINT_MAX = 0x10ffff;

/** Numbers and the names that every writer of HTML uses; other names stay as they are. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#[xX]([\dA-Fa-f]{1,6})|#(\d{1,7})|([A-Za-z]{2,6}));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      const code = Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16);
      const isCharacter = code > 0 && code <= CODE_POINT_MAX && (code < 0xd800 || code > 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}
