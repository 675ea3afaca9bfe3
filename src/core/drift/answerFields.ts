// Which fields an answer of the gateway has, folded over many: how often each was there and of
// which type. Bounded however the answers look; no value leaves it but as a masked sample. Pure.

import { heldId } from '../text/heldText.js';

export type JsonType = 'text' | 'number' | 'boolean' | 'null' | 'list' | 'object';

/** An example of a field: the order of its entry, if it names one, and the shape of the value. */
export interface FieldSample {
  orderNo: string | null;
  shape: string;
}

/** A field of the answers. What stands beside the entries counts as often as there are entries. */
export interface Field {
  seen: number;
  /** how often it was an object: as often its own fields could be there */
  objects: number;
  /** the types it had, each with the first value of it */
  types: Partial<Record<JsonType, FieldSample>>;
}

/** By path, `orders_list[].currency`; the whole answer is the empty path. */
export type Fields = ReadonlyMap<string, Field>;

/** `isCut`: there were more fields than are counted, so that one may be there and not here. */
export interface FoldedAnswers {
  fields: Fields;
  isCut: boolean;
}

/** More fields than this are of no document: names that are values, such as numbers of orders. */
const FIELDS_MAX = 400;
const DEPTH_MAX = 8;
const NAME_CHARS_MAX = 60;
const SHAPE_CHARS_MAX = 40;

interface Node extends Field {
  path: string;
  names: Map<string, Node>;
  items: Node | null;
}

/** Folds answers one after the other; `come` is what they came to. */
export function foldAnswers(): { add: (answer: unknown) => void; come: () => FoldedAnswers } {
  const nodes: Node[] = [];
  let isCut = false;
  const open = (path: string): Node | null => {
    isCut ||= nodes.length >= FIELDS_MAX;
    if (isCut) return null;
    const node: Node = { path, seen: 0, objects: 0, types: {}, names: new Map(), items: null };
    nodes.push(node);
    return node;
  };
  const fold = (node: Node, value: unknown, at: Place): void => {
    const type = typeOf(value);
    node.seen += at.times;
    node.types[type] ??= { orderNo: at.orderNo, shape: shapeOf(value) };
    if (at.depth === DEPTH_MAX) return;
    if (type === 'list') {
      node.items ??= open(`${node.path}[]`);
      if (node.items === null) return;
      const inside = { ...at, times: 1, depth: at.depth + 1 };
      for (const item of value as unknown[]) fold(node.items, item, inside);
    } else if (type === 'object') {
      node.objects += at.times;
      const record = value as Record<string, unknown>;
      const named = record.order_no;
      const orderNo = typeof named === 'string' ? heldId(named) : at.orderNo;
      const inside = { ...at, orderNo, depth: at.depth + 1 };
      for (const name of Object.keys(record)) {
        const field = node.names.get(name) ?? open(pathOf(node.path, name));
        if (field === null) continue;
        node.names.set(name, field);
        fold(field, record[name], inside);
      }
    }
  };
  const root = open('');
  return {
    add: (answer) => {
      if (root) fold(root, answer, { times: entriesOf(answer), orderNo: null, depth: 0 });
    },
    come: () => ({
      fields: new Map(
        nodes.map(({ path, seen, objects, types }) => [path, { seen, objects, types }]),
      ),
      isCut,
    }),
  };
}

/** Where in an answer: how many entries it stands for, the order that it is about. */
interface Place {
  times: number;
  orderNo: string | null;
  depth: number;
}

/** An answer that lists entries stands for each of them, any other for itself. */
function entriesOf(answer: unknown): number {
  if (typeOf(answer) !== 'object') return 1;
  const lists = Object.values(answer as object).filter(Array.isArray) as unknown[][];
  return Math.max(1, ...lists.map((list) => list.length));
}

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  if (type === 'object' || type === 'number' || type === 'boolean') return type;
  return 'text';
}

function pathOf(parent: string, name: string): string {
  const readable = name.replace(/[^\w@-]/g, '?').slice(0, NAME_CHARS_MAX);
  return parent === '' ? readable : `${parent}.${readable}`;
}

/** What a value looks like, without saying it: for all that is known it may be a person's. */
function shapeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  const text = String(value);
  const shape = text
    .slice(0, SHAPE_CHARS_MAX)
    .replace(/\p{Lu}/gu, 'A')
    .replace(/[^\P{L}A]/gu, 'a')
    .replace(/\p{N}/gu, '9')
    .replace(/[^\x20-\x7e]/g, '?');
  const whole = text.length > SHAPE_CHARS_MAX ? `${shape}…` : shape;
  return typeof value === 'number' ? whole : `"${whole}"`;
}
