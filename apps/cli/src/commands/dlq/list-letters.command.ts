import type { Command } from 'commander';
import type { StoredDeadLetter } from '#bus';
import type { CliConfig } from '../../cli.config.ts';
import { filled, wholeNumber } from '../../option-parsers.ts';
import { typeOf } from './letter-text.ts';
import { addDlqCommand, withDesk, type DlqOptions } from './open-desk.ts';

interface ListOptions extends DlqOptions {
  readonly topic?: string;
  readonly group?: string;
  readonly all: boolean;
  readonly limit: number;
}

const COLUMNS = [
  { title: 'ID', of: (letter: StoredDeadLetter) => letter.id },
  { title: 'AT', of: (letter: StoredDeadLetter) => letter.at },
  { title: 'TOPIC', of: (letter: StoredDeadLetter) => letter.topic },
  { title: 'GROUP', of: (letter: StoredDeadLetter) => letter.group },
  { title: 'TYPE', of: typeOf },
  { title: 'REPLAYED', of: (letter: StoredDeadLetter) => letter.replayedAt ?? '' },
  { title: 'CAUSE', of: (letter: StoredDeadLetter) => `${letter.code}: ${letter.cause}` },
];

export function addListLetters(group: Command, config: CliConfig): void {
  addDlqCommand(group, {
    usage: 'list',
    summary: 'list dead letters that were not sent again, newest first',
    examples: [
      'countersign dlq list --brokers localhost:9092',
      'countersign dlq list --topic call.proposed --all --json',
    ],
  })
    .option('--topic <topic>', 'only letters that came from this topic', filled)
    .option('--group <group>', 'only letters of this consumer group', filled)
    .option('--all', 'also those that were sent again', false)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(({ topic, group: consumer, all, limit, ...options }: ListOptions) =>
      withDesk(config, options, async (desk, out) => {
        const items = await desk.list({ topic, group: consumer, open: !all, limit });
        out.document({
          items: items.map((letter) => {
            const { key: _key, value: _value, headers: _headers, ...shown } = letter;
            return { ...shown, type: typeOf(letter) };
          }),
        });
        out.table(COLUMNS, items, 'no dead letters');
      }),
    );
}
