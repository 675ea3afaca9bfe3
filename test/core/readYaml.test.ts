// What is wrong in a file of YAML is told by file and line, and never with the value: it may be a key.

import { expect, it } from 'vitest';
import { ConfigurationError } from '../../src/core/errors.js';
import { readYaml } from '../../src/core/text/readYaml.js';

const SECRET = 'Xy9zSecret';

it.each([
  ['an alias that leads nowhere', `signingKey: *${SECRET}`],
  ['a tag that nobody knows', `signingKey: !${SECRET}`],
  ['the head of a block', `signingKey: |${SECRET}`],
  ['a quote without an end', `signingKey: "${SECRET}\nb: c`],
  ['a list that is not closed', `signingKey: [${SECRET}`],
])('%s is an error of the configuration without its value', (_what, text) => {
  let said: unknown;
  try {
    readYaml(`a: b\n${text}\n`, 'tieout.yaml');
  } catch (error) {
    said = error;
  }
  expect(said).toBeInstanceOf(ConfigurationError);
  const { message } = said as Error;
  expect(message).toContain('tieout.yaml');
  expect(message).not.toContain(SECRET);
});
