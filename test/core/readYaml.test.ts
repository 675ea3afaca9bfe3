// What is wrong in a file of YAML is told by file and line, and never with the value: it may be a key.

import { expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../src/core/errors.js';
import { readYaml } from '../../src/core/text/readYaml.js';

const SECRET = 'Xy9zSecret';

it.each([
  ['an alias that leads nowhere', `signingKey: *${SECRET}`],
  ['a tag that nobody knows', `signingKey: !${SECRET}`],
  ['the head of a block', `signingKey: |${SECRET}`],
  ['a quote without an end', `signingKey: "${SECRET}\nb: c`],
  ['a list that is not closed', `signingKey: [${SECRET}`],
  ['what a template was to fill in', `signingKey: {{ ${SECRET} }}`],
  ['a list in the place of a key', `? [a, ${SECRET}]\n: b`],
  ['an alias that leads nowhere, as a key', `*${SECRET} : e`],
  ['a map in the place of a key, by an alias', `c: &x { d: ${SECRET} }\n*x : e`],
])('%s is an error of the configuration with its line, without its value', (_what, text) => {
  const warned = vi.spyOn(process, 'emitWarning');
  const { message } = failure(`a: b\n${text}\n`);
  expect(message).toContain('tieout.yaml');
  expect(message).toMatch(/line \d/);
  expect(message).not.toContain(SECRET);
  // Node writes a warning by itself, with what the library quotes.
  expect(warned).not.toHaveBeenCalled();
});

it.each([
  [
    'an alias that leads nowhere',
    'a: b\nc: *x\n',
    'c: an alias (*name) leads nowhere: put a value that is none in quotes (line 2)',
  ],
  [
    'an alias in a list, in a map',
    'a:\n  - { b: *x }\n',
    'a.0.b: an alias (*name) leads nowhere: put a value that is none in quotes (line 2)',
  ],
  ['a second document', 'a: b\n---\nc: d\n', 'a second document begins here (line 2)'],
  ['no key at all', 'a: b\n: d\n', 'a key is missing before the colon (line 2)'],
  ['no key at all behind a mark', 'a: b\n? \n: d\n', 'a key is missing before the colon (line 2)'],
  [
    'what a template was to fill in',
    'a: b\nc: { d: {{ X }} }\n',
    'c.d: braces or brackets stand where a key or a text belongs: put it in quotes (line 2)',
  ],
])('%s is told in our words, by key and line', (_what, text, told) => {
  expect(failure(text).message).toContain(`tieout.yaml: ${told}`);
});

function failure(text: string): ConfigurationError {
  try {
    readYaml(text, 'tieout.yaml');
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('it was read');
}
