import type { CommandTree } from './completion.command.ts';

interface Place {
  /** Words so far, such as `runs start`; empty at the start. */
  readonly words: string;
  readonly tree: CommandTree;
}

/** Every command with the words that lead to it. */
const placesOf = (tree: CommandTree, words: readonly string[] = []): Place[] => [
  { words: words.join(' '), tree },
  ...tree.commands.flatMap((command) => placesOf(command, [...words, command.name])),
];

const following = ({ commands, options }: CommandTree): string =>
  [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag), '--help'].join(' ');

const valuesOf = (places: readonly Place[]): [flag: string, values: string][] => {
  const all = new Map<string, Set<string>>();
  for (const { tree } of places)
    for (const { flag, values } of tree.options)
      if (values.length > 0) all.set(flag, new Set([...(all.get(flag) ?? []), ...values]));
  return [...all].map(([flag, values]) => [flag, [...values].join(' ')]);
};

/** What both bash and zsh (by bashcompinit) understand. */
function bashFunction(tree: CommandTree): string {
  const places = placesOf(tree);
  return `_countersign() {
  local word previous place i
  word="\${COMP_WORDS[COMP_CWORD]}"
  previous="\${COMP_WORDS[COMP_CWORD-1]}"
  place=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -*) break ;;
      *) place="\${place:+$place }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$previous" in
${valuesOf(places)
  .map(([flag, values]) => `    ${flag}) COMPREPLY=($(compgen -W "${values}" -- "$word")); return ;;`)
  .join('\n')}
  esac
  case "$place" in
${places
  .toReversed()
  .map(({ words, tree: at }) => `    "${words}"*) COMPREPLY=($(compgen -W "${following(at)}" -- "$word")) ;;`)
  .join('\n')}
  esac
}
`;
}

export const bashScript = (tree: CommandTree): string =>
  `# countersign completion for bash\n${bashFunction(tree)}complete -o default -F _countersign countersign\n`;

export const zshScript = (tree: CommandTree): string =>
  `#compdef countersign
# countersign completion for zsh
autoload -U +X bashcompinit && bashcompinit
${bashFunction(tree)}complete -o default -F _countersign countersign
`;

export function fishScript(tree: CommandTree): string {
  const lines = placesOf(tree).flatMap(({ words, tree: at }) => {
    const when = words === '' ? '__fish_use_subcommand' : seen(words, at);
    return [
      ...at.commands.map((command) => fishLine(when, `-a ${command.name}`, command.summary)),
      ...at.options.map(({ flag, summary, values }) =>
        fishLine(when, `-l ${flag.slice(2)}${values.length > 0 ? ` -xa "${values.join(' ')}"` : ''}`, summary),
      ),
    ];
  });
  return `# countersign completion for fish\ncomplete -c countersign -f\n${lines.join('\n')}\n`;
}

const seen = (words: string, at: CommandTree): string => {
  const before = words
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ');
  const after = at.commands.map(({ name }) => name).join(' ');
  return after === '' ? before : `${before}; and not __fish_seen_subcommand_from ${after}`;
};

const fishLine = (when: string, what: string, summary: string): string =>
  `complete -c countersign -n '${when}' ${what} -d '${summary.replaceAll("'", '’')}'`;
