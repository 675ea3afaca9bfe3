// Spells a message as the bytes of a request body. The document declares JSON for some endpoints,
// form for the query, and its samples send all of it with the form's content type (Endpoints,
// note 1); which holds is the profile's `bodies`. Also reads a form back, for the sandbox, so that
// the spelling of arrays lives once. Pure; signs nothing.

import { type BodyEncoding, forOperation, type Profile, XML } from '../document/profile.js';
import { xmlMessage } from './messageXml.js';

type Message = Record<string, unknown>;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const XML_TYPE = 'application/xml';
const FORM_FIELDS_MAX = 10_000;

interface EncodedBody {
  contentType: string;
  body: Buffer;
}

export function encodeMessage(
  bodies: Profile['bodies'],
  operation: string,
  message: Message,
): EncodedBody {
  return encodeAs(forOperation(bodies, operation), message);
}

export function encodeAs(encoding: BodyEncoding, message: Message): EncodedBody {
  switch (encoding) {
    case 'json':
      return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(message)) };
    case 'json-as-form':
      return { contentType: FORM_TYPE, body: Buffer.from(JSON.stringify(message)) };
    case 'form':
      return { contentType: FORM_TYPE, body: Buffer.from(formText(message)) };
    default: {
      const root = encoding.slice(XML.length);
      return { contentType: XML_TYPE, body: Buffer.from(xmlMessage(root, message)) };
    }
  }
}

/**
 * The document shows no form with an array in it. We write the spelling that most form parsers
 * read: `capture_orders[0][amount]=12.34`, indices from 0, everything percent-encoded as UTF-8.
 */
function formText(message: Message): string {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (typeof value !== 'object') {
      form.append(name, String(value));
      return;
    }
    for (const [part, inner] of Object.entries(value)) add(`${name}[${part}]`, inner);
  };
  for (const [name, value] of Object.entries(message)) add(name, value);
  return form.toString();
}

/** Reads a form in the same spelling; null when it is none (a name twice, far too many). */
export function readForm(text: string): Message | null {
  const root = emptyNode();
  let fields = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    fields += 1;
    if (fields > FORM_FIELDS_MAX || !putField(root, name, value)) return null;
  }
  return plainNode(root) as Message;
}

interface FormNode {
  values: Map<string, FormNode | string>;
}

function emptyNode(): FormNode {
  return { values: new Map() };
}

function putField(root: FormNode, name: string, value: string): boolean {
  const [, first = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  if (first === '') return false;
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map((match) => match[1] ?? '')];
  const last = path.pop() ?? '';
  let node = root;
  for (const part of path) {
    const next = node.values.get(part) ?? emptyNode();
    if (typeof next === 'string') return false;
    node.values.set(part, next);
    node = next;
  }
  if (node.values.has(last)) return false;
  node.values.set(last, value);
  return true;
}

/** A node whose names are 0, 1, 2 ... in order is an array. */
function plainNode(node: FormNode): unknown {
  const plain = [...node.values].map(
    ([name, value]) => [name, typeof value === 'string' ? value : plainNode(value)] as const,
  );
  const isArray = plain.length > 0 && plain.every(([name], index) => name === String(index));
  return isArray ? plain.map(([, value]) => value) : Object.fromEntries(plain);
}
