// All commands with what they take, as data: read out of the commands themselves, so that what the
// shell completes and what the manual says cannot differ from what the program does. Neighbours:
// completion.ts and manPage.ts print it.

import type { Command } from 'commander';

/** A command of the list, loaded only when it is asked for. */
export interface Entry {
  name: string;
  /** one line of `tieout --help` */
  about: string;
  load: () => Promise<() => Command>;
}

export interface CommandNode {
  /** `import orders`; empty for the program itself */
  readonly path: string;
  readonly about: string;
  /** as its help writes it: `<file...>` */
  readonly takes: string;
  readonly options: readonly { readonly flags: string; readonly long: string; about: string }[];
}

const EVERYWHERE = [
  {
    flags: '--config <file>',
    long: '--config',
    about: 'configuration (else TIEOUT_CONFIG, else ./tieout.yaml)',
  },
  { flags: '-h, --help', long: '--help', about: 'what the command takes' },
];

/** The program first, then each command before those below it. */
export async function commandTree(entries: readonly Entry[]): Promise<CommandNode[]> {
  const nodes: CommandNode[] = [
    { path: '', about: '', takes: 'COMMAND', options: [...EVERYWHERE, VERSION] },
  ];
  for (const { name, about, load } of entries) {
    const build = await load();
    nodes.push(...nodesOf(build(), name, about));
  }
  return nodes;
}

const VERSION = { flags: '-V, --version', long: '--version', about: 'the version' };

/** The commands right below one. */
export function below(nodes: readonly CommandNode[], path: string): CommandNode[] {
  const depth = path === '' ? 1 : path.split(' ').length + 1;
  const isBelow = (node: CommandNode): boolean =>
    node.path !== '' && node.path.split(' ').length === depth;
  return nodes.filter((node) => isBelow(node) && (path === '' || node.path.startsWith(`${path} `)));
}

export function lastWord({ path }: CommandNode): string {
  return path.slice(path.lastIndexOf(' ') + 1);
}

function nodesOf(command: Command, path: string, about: string): CommandNode[] {
  const own = command.options
    .filter(({ hidden, long }) => !hidden && long !== undefined && long !== '--config')
    .map(({ flags, long, description }) => ({ flags, long: long ?? '', about: description }));
  const takes = command
    .usage()
    .split(' ')
    .filter((word) => word !== '[options]' && word !== '[command]')
    .join(' ');
  const node = { path, about, takes, options: [...own, ...EVERYWHERE] };
  const inner = command.commands.flatMap((one) =>
    nodesOf(one, `${path} ${one.name()}`, one.description()),
  );
  return [node, ...inner];
}
