// The one form of a page: what is found, what is stepped over, what is refused.

import { describe, expect, it } from 'vitest';
import { readHiddenForm } from '../../src/gateway/payments/hiddenForm.js';

const form = (inside: string, attributes = 'method="post" action="/p"'): string =>
  `<html><body><form ${attributes}>${inside}</form></body></html>`;

function inputsOf(html: string): Record<string, string> {
  const read = readHiddenForm(html);
  if (read.kind === 'refused') throw new Error(read.reason);
  return Object.fromEntries(read.inputs);
}

describe('readHiddenForm', () => {
  it.each([
    ['double quotes', '<input type="hidden" name="a" value="1">', { a: '1' }],
    ['single quotes', "<input type='hidden' name='a' value='x \"y\"'>", { a: 'x "y"' }],
    ['no quotes', '<input type=hidden name=a value=1>', { a: '1' }],
    ['capitals', '<INPUT TYPE="HIDDEN" NAME="a" VALUE="1"/>', { a: '1' }],
    ['any order', '<input value="1" name="a" type="hidden" />', { a: '1' }],
    ['spaces and lines', '<input\n type = "hidden"\n name = "a" value = "1" >', { a: '1' }],
    ['no value', '<input type="hidden" name="a">', { a: '' }],
    ['a bare word', '<input disabled type="hidden" name="a" value="1">', { a: '1' }],
    ['a > in a value', '<input type="hidden" name="a" value="1>2">', { a: '1>2' }],
    [
      'entities',
      '<input type="hidden" name="a" value="&lt;&#65;&#x42;&amp;amp;">',
      { a: '<AB&amp;' },
    ],
    ['unknown entities', '<input type="hidden" name="a" value="&copy;&amp">', { a: '&copy;&amp' }],
    [
      'impossible entities',
      '<input type="hidden" name="a" value="&#0;&#xd800;">',
      { a: '\ufffd\ufffd' },
    ],
    ['a name of the prototype', '<input type="hidden" name="__proto__" value="1">', {}],
    ['the same input twice', '<input type=hidden name=a value=1>'.repeat(2), { a: '1' }],
    ['other inputs', '<input name="b" value="2"><input type="text" name="c" value="3">', {}],
    ['a comment', '<!-- <input type=hidden name=a value=1> -->', {}],
    ['a script', '<script>"<input type=hidden name=a value=1></form>"</script>', {}],
    ['a textarea', '<textarea><input type=hidden name=a value=1></textarea>', {}],
    ['a bare <', '1 < 2 <input type=hidden name=a value=1>', { a: '1' }],
  ])('reads %s', (name, inside, expected) => {
    const found = inputsOf(form(inside));
    if (name.includes('prototype')) expect(Object.keys(found)).toEqual(['__proto__']);
    else expect(found).toEqual(expected);
  });

  it('takes only what stands inside of the form', () => {
    const outside = '<input type=hidden name=a value=1>';
    expect(inputsOf(outside + form('') + outside)).toEqual({});
  });

  it.each([
    ['POST', 'https://gw.example/pay?a=1&amp;b=2', 'https://gw.example/pay?a=1&b=2'],
    ['post', 'pay', 'pay'],
    [' Post ', ' /pay ', '/pay'],
  ])('finds the action of a form with %s', (method, action, expected) => {
    const read = readHiddenForm(form('', `method="${method}" action="${action}"`));
    expect(read).toMatchObject({ kind: 'form', action: expected });
  });

  const manyInputs = Array.from({ length: 501 }, (_, at) => `<input type=hidden name=n${at}>`);
  it.each([
    ['no form', '<html></html>', 'no form'],
    ['two forms', form('') + form(''), 'more than one form'],
    ['a form within the form', form('<form method=post action=/x>'), 'more than one form'],
    ['an end without a beginning', '</form>', 'did not begin'],
    ['GET', form('', 'method="get" action="/p"'), 'POST'],
    ['no method', form('', 'action="/p"'), 'POST'],
    ['no action', form('', 'method="post"'), 'no web address'],
    ['a script as action', form('', 'method="post" action="javascript:x()"'), 'no web address'],
    ['a file as action', form('', 'method="post" action="file:///etc"'), 'no web address'],
    ['a form that never ends', form('').replace('</form>', ''), 'cut off'],
    ['a page that never ends', form('').replace('</html>', ''), 'cut off'],
    ['a tag that never ends', `${form('')}<p class="x`, 'cut off'],
    ['a comment that never ends', `${form('')}<!-- `, 'cut off'],
    ['a script that never ends', `${form('')}<script>`, 'cut off'],
    [
      'one input with two values',
      form('<input type=hidden name=a value=1><input type=hidden name=a>'),
      'twice',
    ],
    ['an attribute twice', form('<input type=hidden name=a name=b>'), 'attribute twice'],
    ['an input without a name', form('<input type=hidden value=1>'), 'without a name'],
    ['too many inputs', form(manyInputs.join('')), 'more than 500'],
    ['too many tags', '<p>'.repeat(10_001), 'more than 10000 tags'],
    [
      'too many attributes',
      form(`<p ${manyInputs.map((_, at) => `a${at}`).join(' ')}>`),
      'than 50',
    ],
    ['far too much', form('x'.repeat(1_048_577)), 'larger'],
    ['nothing', '', 'no form'],
  ])('refuses %s', (_, html, reason) => {
    expect(readHiddenForm(html)).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
  });

  it.each([
    ['quotes', `<p ${'a="'.repeat(300_000)}`],
    ['open tags', '<'.repeat(1_000_000)],
    ['spaces', `<p${' '.repeat(1_000_000)}`],
    ['comments', '<!--'.repeat(250_000)],
    ['scripts', '<script>'.repeat(120_000)],
    ['names', `<${'a'.repeat(1_000_000)}`],
    ['ends', `<p ${'/'.repeat(1_000_000)}`],
  ])('ends soon on a million characters of %s', (_, html) => {
    expect(readHiddenForm(html).kind).toBe('refused');
  });
});
