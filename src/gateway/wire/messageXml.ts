// A request as XML, which the document declares for the redirect without showing an element of
// it (Endpoints, note 1): the profile names the root, each field is an element of its own name, and
// one that has several values comes as often. Reads it back for the sandbox, so that the spelling
// lives once. Pure.

import { XMLParser } from 'fast-xml-parser';
import { TieoutError } from '../../core/errors.js';
import { xmlTextOf } from './responXml.js';

const NAME = /^[A-Za-z_][\w.-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 has no way to write.
const NOT_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u;
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** Throws for what XML cannot say, naming the field and never its value. */
export function xmlMessage(root: string, message: Record<string, unknown>): string {
  return DECLARATION + element(root, message);
}

function element(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (!NAME.test(name)) throw new TieoutError(`${name}: is no name of an XML element`);
  if (Array.isArray(value)) return value.map((one) => element(name, one)).join('');
  const inner =
    typeof value === 'object'
      ? Object.entries(value).map(([part, one]) => element(part, one))
      : [escaped(name, String(value))];
  return `<${name}>${inner.join('')}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  // A reader makes a line feed of it where it stands plainly.
  '\r': '&#13;',
};

function escaped(name: string, text: string): string {
  if (NOT_IN_XML.test(text)) {
    throw new TieoutError(`${name}: holds a character that XML cannot hold`);
  }
  return text.replace(/[&<>\r]/g, (sign) => ESCAPES[sign] ?? sign);
}

/** The fields of the root, whatever its name; null: no such message. */
export function readXmlMessage(xml: string, maxBytes: number): Record<string, unknown> | null {
  const text = xmlTextOf(xml, maxBytes);
  if (text.kind === 'refused') return null;
  try {
    const parser = new XMLParser({
      ignoreAttributes: false,
      ignoreDeclaration: true,
      parseTagValue: false,
      trimValues: false,
      htmlEntities: true,
    });
    const tops = Object.values(parser.parse(text.text, true) as object);
    const fields: unknown = tops.length === 1 ? tops[0] : null;
    return isFields(fields) ? fields : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // Text beside elements, and attributes, which we never write.
  return Object.keys(value).every((name) => NAME.test(name));
}
