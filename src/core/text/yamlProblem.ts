// What is wrong with a YAML text, for a person: the key where it is one, and the parser's first
// line, since below it the parser quotes the file, secrets included. Used by whoever reads YAML.

interface YamlError {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** `key` is empty where the problem is not that of one key. */
export function yamlProblem(error: YamlError, text: string): { key: string; problem: string } {
  const problem = error.message.split('\n')[0] ?? 'is no YAML';
  if (error.code !== 'DUPLICATE_KEY') return { key: '', problem };
  const written = /^["']?([\w.-]*)/.exec(text.slice(error.pos[0]));
  return { key: written?.[1] ?? '', problem };
}
