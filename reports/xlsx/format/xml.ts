// What all parts of a workbook's file are made with: elements, their escaping, the names of the
// format (ECMA-376) and the relations between parts. Pure.

/** A small part of the file, made whole before it is written. */
export interface Part {
  name: string;
  /** What the file's list of contents says of it; null where its name says enough. */
  type: string | null;
  text: string;
}

export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
export const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
export const OFFICE_TYPE = 'application/vnd.openxmlformats-officedocument';

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element with what is given of its attributes; `inside` is XML already. */
export function element(name: string, attributes: Attributes, ...inside: string[]): string {
  let open = `<${name}`;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) open += ` ${key}="${quoted(String(value))}"`;
  }
  const content = inside.join('');
  return content === '' ? `${open}/>` : `${open}>${content}</${name}>`;
}

/** Elements of one kind in the element that counts them; nothing where there is none. */
export function counted(name: string, all: readonly string[]): string {
  return all.length === 0 ? '' : element(name, { count: all.length }, ...all);
}

/** Text between elements. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The same in an attribute. */
export function quoted(text: string): string {
  return escaped(text).replaceAll('"', '&quot;');
}

export interface Relation {
  type: string;
  target: string;
}

/** The relations of a part: rId1 and so on, in this order. */
export function relationsPart(name: string, relations: readonly Relation[]): Part {
  const all = relations.map(({ type, target }, at) =>
    element('Relationship', {
      Id: `rId${at + 1}`,
      Type: type.includes(':') ? type : `${OFFICE}/${type}`,
      Target: target,
    }),
  );
  const text = XML + element('Relationships', { xmlns: `${PACKAGE}/relationships` }, ...all);
  return { name, type: null, text };
}
