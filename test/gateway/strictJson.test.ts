// Answers that two readers could understand differently are not understood.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStrictJson } from '../../src/gateway/wire/strictJson.js';

const read = (text: string) => readStrictJson(Buffer.from(text)).kind;

describe('readStrictJson', () => {
  it.each([
    ['a field twice', '{"a":1,"a":1}'],
    ['a field twice, one escaped', '{"a":1,"\\u0061":2}'],
    ['a field twice, far from its colon', `{"a":1,"a"${' '.repeat(500)}:2}`],
    ['a field twice below', '{"x":[{"a":1,"b":2,"a":3}]}'],
    ['__proto__', '{"__proto__":{"a":1}}'],
    ['NUL', '{"a":"x\\u0000"}'],
    ['half a character', '{"a":"\\ud800"}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['an array', '[{"a":1}]'],
    ['a text', '"a"'],
    ['null', 'null'],
    ['HTML', '<html></html>'],
    ['nothing', ''],
    ['a cut answer', '{"a":"b'],
    ['two documents', '{"a":1}{"a":1}'],
    ['NaN', '{"a":NaN}'],
    ['nine levels', `${'{"a":'.repeat(8)}[]${'}'.repeat(8)}`],
    ['a hundred thousand levels', '['.repeat(100_000)],
    ['a comment', '{"a":1/**/}'],
  ])('refuses %s', (_, text) => {
    expect(read(text)).toBe('refused');
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(readStrictJson(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])).kind).toBe(
      'refused',
    );
  });

  it.each([
    ['equal names in different objects', '{"x":[{"a":1},{"a":2}],"a":3}'],
    ['a value equal to a name', '{"a":"a","b":"a"}'],
    ['brackets and quotes in texts', '{"a":"}]\\"{[","b":"\\\\"}'],
    ['an escaped backslash before u0000', '{"a":"\\\\u0000"}'],
    ['whole characters beyond the first plane', '{"a":"\\ud83d\\ude00 😀"}'],
    ['eight levels', `${'{"a":'.repeat(7)}[]${'}'.repeat(7)}`],
  ])('reads %s', (_, text) => {
    expect(readStrictJson(Buffer.from(text))).toEqual({ kind: 'object', value: JSON.parse(text) });
  });

  it('reads whatever an honest writer writes', () => {
    const key = fc
      .string({ unit: 'grapheme' })
      .filter((k) => k !== '__proto__' && !k.includes('\0'));
    const text = fc.string({ unit: 'grapheme' }).filter((k) => !k.includes('\0'));
    fc.assert(
      fc.property(fc.dictionary(key, fc.array(fc.oneof(text, fc.integer()))), (value) => {
        expect(read(JSON.stringify(value))).toBe('object');
      }),
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['object', 'refused']).toContain(readStrictJson(bytes).kind);
      }),
    );
  });
});
