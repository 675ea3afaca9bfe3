// Spoils answers: a few random wounds in the bytes of a sample, for the tests of the decoders.

import fc from 'fast-check';

/** Pieces that mean something to one of the readers. */
const TOKENS = [
  ...'<>"\'{}[]:,;&=/\\ \n\t01289-.',
  '\0',
  '\ufeff',
  '\u2028',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '<?xml version="1.0" encoding="utf-16"?>',
  '&amp;',
  '&#0;',
  '&#x110000;',
  '&b;',
  '</respon>',
  '<respon>',
  '<form method=post action=/x>',
  '</form>',
  '<input type=hidden name=order_no value=SO-9>',
  '<script>',
  '</script>',
  '"__proto__":{"status":"COMPLETED"},',
  '"order_no":"SO-1",',
  '"status":"COMPLETED",',
  '\\u0000',
  '\\ud800',
  'null',
  'true',
  '1e999',
  '0000:',
  'V0000:',
];

type Wound =
  | { kind: 'cut' | 'drop' | 'double' | 'flip'; at: number; length: number }
  | { kind: 'insert' | 'replace'; at: number; length: number; text: Buffer };

const place = { at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(40) };
const text = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom(...TOKENS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('[', '{"a":', '<a>', 'x').map((one) => one.repeat(500)),
    },
  )
  .map((one) => Buffer.from(one));
const wound: fc.Arbitrary<Wound> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cut', 'drop', 'double', 'flip'), ...place }),
  fc.record({ kind: fc.constantFrom('insert', 'replace'), ...place, text }),
);

/** A sample with one to four wounds. */
export function mutated(samples: readonly (string | Buffer)[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(wound, { minLength: 1, maxLength: 4 }))
    .map(([sample, wounds]) => wounds.reduce(apply, Buffer.from(sample)));
}

function apply(bytes: Buffer, given: Wound): Buffer {
  const at = Math.floor(given.at * bytes.length);
  const before = bytes.subarray(0, at);
  const piece = bytes.subarray(at, at + given.length);
  const after = bytes.subarray(at + given.length);
  switch (given.kind) {
    case 'cut':
      return before;
    case 'drop':
      return Buffer.concat([before, after]);
    case 'double':
      return Buffer.concat([before, piece, piece, after]);
    case 'flip': {
      const flipped = Buffer.from(bytes);
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << (given.length % 8));
      return flipped;
    }
    case 'insert':
      return Buffer.concat([before, given.text, piece, after]);
    case 'replace':
      return Buffer.concat([before, given.text, after]);
  }
}
