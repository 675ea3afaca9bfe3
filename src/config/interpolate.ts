// Fills ${NAME} and ${NAME:-default} in the texts of a configuration. Works on parsed values, so
// that what a variable holds can never become a key or another setting; it is not filled again.
// Must never put a variable's value into a message. Used by config.ts alone.

import { ConfigurationError } from '../core/errors.js';
import { shownPath } from '../core/text/readYaml.js';

/** Deeper nesting than any configuration has: a file that reaches it is not one. */
const MAX_DEPTH = 20;

const REFERENCE = /\$\{([^}]*)(\}?)/g;

/** The value with every reference filled in; lists and maps are copied. */
export function interpolate(
  value: unknown,
  env: NodeJS.ProcessEnv,
  file: string,
  path: readonly string[] = [],
): unknown {
  const key = shownPath(path);
  if (path.length > MAX_DEPTH) throw new ConfigurationError(file, key, 'is nested too deeply');
  if (typeof value === 'string') return fill(value, env, file, key);
  if (Array.isArray(value)) {
    return value.map((item, index) => interpolate(item, env, file, [...path, String(index)]));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      interpolate(item, env, file, [...path, name]),
    ]),
  );
}

function fill(text: string, env: NodeJS.ProcessEnv, file: string, key: string): string {
  return text.replace(REFERENCE, (_, inside: string, close: string) => {
    const match = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside);
    if (match === null || close === '') {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the spelling of a reference.
      throw new ConfigurationError(file, key, 'a reference is written ${NAME} or ${NAME:-default}');
    }
    const name = match[1] ?? '';
    const given = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    const filled = given === '' ? match[2] : given;
    if (filled !== undefined) return filled;
    const state = Object.hasOwn(env, name) ? 'is empty' : 'is not set';
    throw new ConfigurationError(file, key, `the environment variable ${name} ${state}`);
  });
}
