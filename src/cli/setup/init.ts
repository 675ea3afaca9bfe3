// `tieout init`: writes a commented configuration and profile to start from. Owns that nothing of
// the person's is ever overwritten and that both files appear or none. Neighbour:
// templates.ts has the texts.

import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { INITIAL_VALUES, PROFILE_TEMPLATE, renderConfig } from '../../config/templates.js';
import { ConfigurationError } from '../../core/errors.js';

interface InitOptions {
  cwd: string;
  /** --config: where tieout.yaml goes; the profile lies beside it. */
  file?: string;
}

export function initCommand(): Command {
  return new Command('init').action((_flags: object, command: Command) => {
    const { config } = command.optsWithGlobals<{ config?: string }>();
    const options = config === undefined ? {} : { file: config };
    const written = writeInitialFiles({ cwd: process.cwd(), ...options });
    process.stdout.write(written.map((path) => `wrote ${path}\n`).join(''));
    process.stdout.write('Next: fill in the accounts, then `tieout doctor`.\n');
  });
}

/** Writes both files; returns their absolute paths. Throws when one of them exists already. */
export function writeInitialFiles({ cwd, file = 'tieout.yaml' }: InitOptions): string[] {
  const config = resolve(cwd, file);
  const profile = join(dirname(config), 'gateway-profile.yaml');
  const texts: [string, string][] = [
    [config, renderConfig(INITIAL_VALUES)],
    [profile, PROFILE_TEMPLATE],
  ];
  const written: string[] = [];
  try {
    for (const [path, text] of texts) {
      writeNew(path, text);
      written.push(path);
    }
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    throw error;
  }
  return written;
}

function writeNew(path: string, text: string): void {
  try {
    // Keys end up in it, whatever it says of the environment.
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') {
      throw new ConfigurationError(path, '', 'exists already and is left as it is', {
        cause: error,
      });
    }
    // A file that was begun (a full disk) is not left half written.
    rmSync(path, { force: true });
    throw new ConfigurationError(path, '', 'cannot be written', { cause: error });
  }
}
