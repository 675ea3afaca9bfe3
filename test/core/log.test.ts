// One line stays one line, whoever wrote it: no line breaks, no colours, no card numbers, no secrets.

import { describe, expect, it } from 'vitest';
import { guardedLog, indentedLines, oneLine, withFields } from '../../src/core/log.js';

const CARD = '4111111111111111';

describe('a line of the log', () => {
  it.each([
    ['line breaks', 'a\r\nb\u2028c\u0085d', 'a b c d'],
    ['colours and bells', '\u001b[31mred\u001b[0m\u0007', '[31mred [0m'],
    ['text that hides or turns', 'a\u202eb\u200bc', 'a b c'],
    ['a card number', `paid with ${CARD}.`, 'paid with 411111******1111.'],
    ['a card number cut in two by what is not seen', '41111111\u200b11111111', '411111** ****1111'],
  ])('%s', (_name, text, line) => {
    expect(oneLine(text, 100)).toBe(line);
  });

  it('stays indented where a person reads several', () => {
    const text = `failed\n2026-11-20T00:00:00Z forged\u001b[2K ${CARD}\r\n\nend`;
    expect(indentedLines(text)).toBe(
      'failed\n    2026-11-20T00:00:00Z forged [2K 411111******1111\n    end',
    );
  });

  it('is masked before it is cut', () => {
    expect(oneLine(`${'x'.repeat(90)} ${CARD}`, 100)).toBe(`${'x'.repeat(90)} 411111***`);
  });

  it('is never cut within a character, which no database would hold', () => {
    expect(oneLine(`x${'😀'.repeat(9)}`, 10)).toBe(`x${'😀'.repeat(4)}`);
    expect(oneLine(`x${'😀'.repeat(10_000)}`, 20_000)).not.toMatch(/\p{Cs}/u);
  });

  it('keeps the identifiers it is about, and says the fields of its surroundings', () => {
    const told: unknown[] = [];
    const log = guardedLog(
      (line, fields) => told.push([line, fields]),
      (text) => text.replaceAll('hunter2', '***'),
    );
    const inRun = withFields(log, { run: '2026-11-19', account: 'A1' });
    inRun(`hunter2 of ${CARD}\nand 4242424242424242`, { level: 'warn', account: CARD });
    inRun('next');
    log(`orders SO-20261121-001766 and ${CARD}`, { names: ['T1', 'SO-20261121-001766'] });
    const names = ['T1', 'SO-20261121-001766'];
    expect(told.pop()).toEqual(['orders SO-20261121-001766 and 411111******1111', { names }]);
    expect(told).toEqual([
      [`*** of ${CARD} and 424242******4242`, { level: 'warn', run: '2026-11-19', account: CARD }],
      ['next', { run: '2026-11-19', account: 'A1' }],
    ]);
  });
});
