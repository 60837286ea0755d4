import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, labels, wholeNumber } from '../../option-parsers.ts';
import { followRun } from './follow-run.ts';
import { showProgress } from './watch-run.command.ts';

interface StartOptions extends GatewayOptions {
  readonly inputFile?: string;
  readonly task?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly maxTurns?: number;
  readonly maxCalls?: number;
  readonly onFailure?: string;
  readonly key?: string;
  readonly watch: boolean;
}

export function addStartRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'start',
    summary: 'start a run of an agent; with --watch follow it to its end',
    examples: [
      'countersign runs start incident-triage "Checkout is failing: what is going on?" --watch',
      'countersign runs start clerk --input-file task.md --task INC-42 --label team=shop',
      'git diff | countersign runs start reviewer --input-file - --json',
    ],
  })
    .argument('<agent>', 'name of an agent of the workspace', filled)
    .argument('[input]', 'what the agent is asked', filled)
    .option('--input-file <file>', 'read the input from a file; - for stdin', filled)
    .option('--task <id>', 'your business key: effects of one task happen once, whoever repeats it', filled)
    .option('--label <key=value>', 'a label to find the run by; may be given several times', labels)
    .option('--max-turns <n>', 'turns of the model at most', wholeNumber(1, 1_000))
    .option('--max-calls <n>', 'calls at most', wholeNumber(1, 10_000))
    .addOption(
      new Option('--on-failure <what>', 'what becomes of its effects if it does not come to a good end').choices([
        'keep',
        'compensate',
        'ask',
      ]),
    )
    .option('--key <key>', 'idempotency key: the same key and content again give the same run', filled)
    .option('--watch', 'follow the run to its end; exit 1 unless it completes', false)
    .action(async (agent: string, input: string | undefined, options: StartOptions) => {
      const { client, out } = openGateway(config, options);
      const body = {
        agent,
        input: await inputOf(input, options.inputFile),
        ...(options.task === undefined ? {} : { taskId: options.task }),
        ...(options.label === undefined ? {} : { labels: options.label }),
        ...(options.onFailure === undefined ? {} : { onFailure: options.onFailure }),
        ...budgetsOf(options),
      };
      const started = await start(client, body, options.key ?? randomUUID());
      if (!options.watch) {
        out.document(started);
        out.line(`run ${started.runId} accepted`);
        out.line(out.paint('dim', `countersign runs watch ${started.runId}`));
        return;
      }
      out.line(`run ${started.runId} accepted`);
      const run = await followRun(client, started.runId, showProgress(out));
      process.exitCode = run.status === 'completed' ? EXIT.ok : EXIT.failed;
    });
}

const start = (client: GatewayClient, body: object, key: string): Promise<{ runId: string; status: string }> =>
  client.post('/v1/runs', body, { key });

async function inputOf(input: string | undefined, file: string | undefined): Promise<string> {
  if ((input === undefined) === (file === undefined))
    throw usageFailure('the input is needed once: give it after the agent, or by --input-file');
  if (input !== undefined) return input;
  const read = file === '-' ? text(process.stdin) : readFile(file!, 'utf8');
  const found = await read.catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`--input-file: ${file} cannot be read (${error.code}); name a readable file, or - for stdin`);
  });
  if (found.trim() === '') throw usageFailure('--input-file: the input is empty');
  return found;
}

function budgetsOf({ maxTurns, maxCalls }: StartOptions): object {
  if (maxTurns === undefined && maxCalls === undefined) return {};
  return {
    budgets: { ...(maxTurns === undefined ? {} : { maxTurns }), ...(maxCalls === undefined ? {} : { maxCalls }) },
  };
}
