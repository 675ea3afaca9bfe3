// Commands that a text tells somebody to type, for who has no shell: the place of the console where
// the same is done, or that an operator is to be asked. The texts themselves name the command, to
// the letter, for the terminal. Pure. Neighbours: web/layout/said.tsx links, reports/ writes.

import { orderPath } from './orderPath.js';

/** Where the console does what a command does. */
interface Place {
  /** of the console, below its address */
  path: string;
  label: string;
}

type TextPart =
  | { kind: 'text'; text: string }
  /** null: only a shell has it */
  | { kind: 'command'; command: string; place: Place | null };

/** In backticks, or the way to resume, which stands without them. */
const COMMAND = /`(tieout [^`]+)`|(tieout brake off(?: --account \S+)? --reason TEXT)/g;

/** The text in its order, its commands apart. */
export function commandParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const found of text.matchAll(COMMAND)) {
    const command = found[1] ?? found[2] ?? '';
    const place = placeOf(command);
    const end = found.index + found[0].length;
    // Whom to ask stands in parentheses itself.
    const own = place === null && text[found.index - 1] === '(' && text[end] === ')' ? 1 : 0;
    parts.push({ kind: 'text', text: plain(text.slice(at, found.index - own)) });
    parts.push({ kind: 'command', command, place });
    at = end + own;
  }
  parts.push({ kind: 'text', text: plain(text.slice(at)) });
  return parts.filter((part) => part.kind === 'command' || part.text !== '');
}

/** The same as one text, for a sheet. */
export function withoutCommands(text: string): string {
  return commandParts(text)
    .map((part) => (part.kind === 'text' ? part.text : commandText(part)))
    .join('');
}

function commandText({ command, place }: TextPart & { kind: 'command' }): string {
  return place === null ? askWords(command) : `“${place.label}” on the console`;
}

function askWords(command: string): string {
  return `(ask the operator to run: ${command})`;
}

/** What stands in backticks beside a command is a word of it, such as `reject`. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}

/** Of the words of a command, and its options by name. */
type Finder = (words: readonly string[], options: URLSearchParams) => Place;

const PLACES: Readonly<Record<string, Finder>> = {
  'brake off': () => ({ path: '/brake', label: 'Resume sending' }),
  'jobs list': () => ({ path: '/jobs', label: 'Jobs' }),
  'breaks list': (_words, options) => ({
    path: addressOf('/breaks', options, ['account', 'kind']),
    label: `Breaks${ofAccount(options)}`,
  }),
  'breaks waive': () => ({ path: '/breaks', label: 'Breaks' }),
  'instructions list': (_words, options) => ({
    path: addressOf('/instructions', options, ['account']),
    label: `Instructions${ofAccount(options)}`,
  }),
  'instructions approve': ofInstruction('approve it'),
  'instructions reject': ofInstruction('reject it'),
  'instructions resolve': ofInstruction('resolve it'),
  'instructions replan': ofInstruction('plan it again'),
  order: ([account = '', orderNo = '']) => ({
    path: orderPath(account, orderNo),
    label: `Order ${orderNo}`,
  }),
  run: (_words, options) => {
    const date = options.get('date');
    const path = date === null ? '/' : `/nights/${encodeURIComponent(date)}`;
    return { path, label: 'Run again' };
  },
  authorisations: () => ({ path: '/authorisations', label: 'Reservations' }),
  settlement: () => ({ path: '/settlement', label: 'Settlement' }),
};

function placeOf(command: string): Place | null {
  const [, ...words] = command.split(' ');
  const options = optionsOf(words);
  for (const length of [2, 1]) {
    const find = PLACES[words.slice(0, length).join(' ')];
    if (find !== undefined) return find(words.slice(length), options);
  }
  return null;
}

function optionsOf(words: readonly string[]): URLSearchParams {
  const options = new URLSearchParams();
  words.forEach((word, at) => {
    const value = words[at + 1];
    if (word.startsWith('--') && value !== undefined) options.set(word.slice(2), value);
  });
  return options;
}

function ofInstruction(verb: string): Finder {
  return ([id = '']) =>
    /^\d+$/.test(id)
      ? { path: `/instructions/${id}`, label: `Instruction ${id}: ${verb}` }
      : { path: '/instructions', label: `Instructions: ${verb}` };
}

function addressOf(path: string, options: URLSearchParams, names: readonly string[]): string {
  const kept = names.flatMap((name) => {
    const value = options.get(name);
    return value === null ? [] : [[name, value]];
  });
  const query = kept.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  return query === '' ? path : `${path}?${query}`;
}

function ofAccount(options: URLSearchParams): string {
  const account = options.get('account');
  return account === null ? '' : ` of ${account}`;
}
