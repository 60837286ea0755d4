import type { Command } from 'commander';
import { databaseOption, type CliConfig } from '../../cli.config.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addCommand } from '../../gateway-command.ts';
import { Output } from '../../output/output.ts';

interface RaiseOptions {
  readonly databaseUrl?: string;
  readonly json: boolean;
}

/** Said in SQL here: the command must work while no executor runs. */
const RAISE = 'update journal set epoch = epoch + 1 returning epoch';

export function addRaiseEpoch(group: Command, config: CliConfig): void {
  addCommand(group, {
    usage: 'raise-epoch',
    summary: 'after a restore of the journal, before executors start: what was granted before is not run blindly',
    examples: ['countersign journal raise-epoch --database-url postgresql://localhost/executor'],
  })
    .addOption(databaseOption())
    .action(async ({ databaseUrl, json }: RaiseOptions) => {
      if (databaseUrl === undefined || !/^postgres(ql)?:\/\//.test(databaseUrl))
        throw usageFailure('--database-url: name the PostgreSQL of the executors, postgresql://…');
      const { Database } = await import('#persistence');
      const database = new Database({ url: databaseUrl, schema: 'executor', max: 1 });
      try {
        const [row] = await database.query<{ epoch: number }>({ text: RAISE });
        const out = new Output({ json, noColour: config.noColour });
        out.document({ journalEpoch: row!.epoch });
        out.line(`the journal is in epoch ${row!.epoch}`);
        out.line(`start policy with COUNTERSIGN_JOURNAL_EPOCH=${row!.epoch}, then the executors`);
      } catch (error) {
        throw failureOf(error);
      } finally {
        await database.close();
      }
    });
}

function failureOf(error: unknown): unknown {
  if ((error as { code?: string }).code === '42P01')
    return usageFailure('--database-url: this database holds no journal; name that of the executors');
  if (!(error instanceof Error) || error.name !== 'InfrastructureError') return error;
  return new CommandFailure(EXIT.unreachable, 'the database of --database-url does not answer', { cause: error });
}
