// `tieout completion bash|zsh|fish`: what a shell needs to complete commands and options, printed
// from the commands themselves. Neighbour: commandTree.ts reads them.

import { Argument, Command } from 'commander';
import type { CommandNode, Entry } from './commandTree.js';
import { below, commandTree, lastWord } from './commandTree.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function completionOf(entries: readonly Entry[]): () => Command {
  return () =>
    new Command('completion')
      .addArgument(new Argument('<shell>', 'whose words it speaks').choices(SHELLS))
      .action(async (shell: Shell) => {
        process.stdout.write(SCRIPTS[shell](await commandTree(entries)));
      });
}

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly CommandNode[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function bashScript(nodes: readonly CommandNode[]): string {
  return `# source <(tieout completion bash)
_tieout() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${typedWords(nodes)}
  done
${wordsByCommand(nodes)}
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _tieout tieout
`;
}

function zshScript(nodes: readonly CommandNode[]): string {
  return `#compdef tieout
# source <(tieout completion zsh)
_tieout() {
  local at="" allowed="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
${typedWords(nodes)}
  done
${wordsByCommand(nodes).replaceAll('words=', 'allowed=')}
  compadd -- \${=allowed}
  _files
}
compdef _tieout tieout
`;
}

/** Goes down into the command that the words before name. */
function typedWords(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const deeper = '"\u0024{at:+$at }$word"';
  return [`    case ${deeper} in`, `      ${known.join('|')}) at=${deeper} ;;`, '    esac'].join(
    '\n',
  );
}

function wordsByCommand(nodes: readonly CommandNode[]): string {
  const cases = nodes.map((node) => `    '${node.path}') words="${wordsOf(nodes, node)}" ;;`);
  return ['  case "$at" in', ...cases, '  esac'].join('\n');
}

function wordsOf(nodes: readonly CommandNode[], node: CommandNode): string {
  const commands = below(nodes, node.path).map(lastWord);
  return [...commands, ...node.options.map(({ long }) => long)].join(' ');
}

function fishScript(nodes: readonly CommandNode[]): string {
  const lines = nodes.flatMap((node) => {
    const here = node.path === '' ? '__fish_use_subcommand' : seen(nodes, node);
    const when = `complete -c tieout -n '${here}'`;
    return [
      ...below(nodes, node.path).map(
        (one) => `${when} -a ${lastWord(one)} -d ${fishText(one.about)}`,
      ),
      ...node.options.map(({ long, about }) => `${when} -l ${long.slice(2)} -d ${fishText(about)}`),
    ];
  });
  return ['# tieout completion fish | source', ...lines, ''].join('\n');
}

/** The words of this command were typed, and none of a command below it. */
function seen(nodes: readonly CommandNode[], node: CommandNode): string {
  const typed = node.path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const deeper = below(nodes, node.path).map(lastWord);
  const not = deeper.length === 0 ? [] : [`not __fish_seen_subcommand_from ${deeper.join(' ')}`];
  return [...typed, ...not].join('; and ');
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
