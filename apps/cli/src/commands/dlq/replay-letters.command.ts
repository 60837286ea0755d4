import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { filled } from '../../option-parsers.ts';
import { addDlqCommand, withDesk, type DlqOptions } from './open-desk.ts';
import { found, printLetter } from './show-letter.command.ts';

interface ReplayOptions extends DlqOptions {
  readonly yes: boolean;
}

export function addReplayLetters(group: Command, config: CliConfig): void {
  addDlqCommand(group, {
    usage: 'replay',
    summary: 'send dead letters again, byte for byte, to the topics that they came from; each once',
    examples: ['countersign dlq replay 12', 'countersign dlq replay call.proposed.dlq/0/7 call.proposed.dlq/0/9 --yes'],
  })
    .argument('<letters...>', 'ids of letters, as "dlq list" tells them', (id: string, before?: string[]) => [
      ...(before ?? []),
      filled(id),
    ])
    .option('--yes', 'do not ask', false)
    .action((ids: readonly string[], options: ReplayOptions) =>
      withDesk(config, options, async (desk, out) => {
        if (!options.yes && !out.interactive)
          throw usageFailure('there is no terminal to ask: give --yes once you know what is sent again');
        const letters = [];
        for (const id of new Set(ids)) letters.push(await found(desk, id));
        const items: { id: string; topic: string; replayed: boolean }[] = [];
        for (const letter of letters) {
          if (!options.yes && letter.replayedAt === null) {
            printLetter(out, letter);
            out.line();
            if (!(await out.confirm(`Send it again to ${letter.topic}?`)))
              throw new CommandFailure(EXIT.failed, `${items.length} sent again; the rest was left alone`);
          }
          const replayed = await desk.replay(letter.id);
          items.push({ id: letter.id, topic: letter.topic, replayed });
          out.line(replayed ? `${letter.id}: sent again to ${letter.topic}` : `${letter.id}: was sent again before`);
        }
        out.document({ items });
      }),
    );
}
