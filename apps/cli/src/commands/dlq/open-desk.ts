import type { Command } from 'commander';
import type { DeadLetterDesk } from '#bus';
import { brokersOption, databaseOption, type CliConfig } from '../../cli.config.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addCommand, type CommandText } from '../../gateway-command.ts';
import { Output } from '../../output/output.ts';

export interface DlqOptions {
  readonly brokers?: readonly string[];
  readonly databaseUrl?: string;
  readonly json: boolean;
}

/** Adds a command that works with dead letters, on Kafka or in the database of an embedded installation. */
export const addDlqCommand = (group: Command, text: CommandText): Command =>
  addCommand(group, text).addOption(brokersOption()).addOption(databaseOption());

/** Opens the desk, works, and closes it. Brokers go first: with them the dead letters are topics. */
export async function withDesk(
  config: CliConfig,
  { brokers, databaseUrl, json }: DlqOptions,
  work: (desk: DeadLetterDesk, out: Output) => Promise<void>,
): Promise<void> {
  const desk = await (brokers?.length ? openTopics(brokers) : openDatabase(databaseUrl));
  try {
    await work(desk, new Output({ json, noColour: config.noColour }));
  } catch (error) {
    if ((error as { code?: string }).code === '42P01' || (error as { code?: string }).code === '42703')
      throw usageFailure(
        '--database-url: this database holds no dead letters of this version; name that of a running installation',
      );
    throw asFailure(error);
  } finally {
    await desk.close();
  }
}

async function openTopics(brokers: readonly string[]): Promise<DeadLetterDesk> {
  const { openDeadLetterTopics } = await import('#bus');
  return openDeadLetterTopics(brokers).catch((error: unknown) => {
    throw asFailure(error);
  });
}

async function openDatabase(url: string | undefined): Promise<DeadLetterDesk> {
  if (url === undefined)
    throw usageFailure(
      'where are the dead letters? Give --brokers (COUNTERSIGN_KAFKA_BROKERS) with Kafka, or --database-url (COUNTERSIGN_DATABASE_URL) without',
    );
  const { BUS_SCHEMA, PostgresDeadLetters } = await import('#bus');
  const { Database } = await import('#persistence');
  if (!/^postgres(ql)?:\/\//.test(url)) throw usageFailure('--database-url is not postgresql://…');
  return new PostgresDeadLetters(new Database({ url, schema: BUS_SCHEMA, max: 1 }));
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'InfrastructureError') return error;
  const reason = (error.cause as { code?: string } | undefined)?.code;
  const text =
    error.message === 'the database is away' ? `the database of --database-url does not answer` : error.message;
  return new CommandFailure(EXIT.unreachable, reason ? `${text} (${reason})` : text, { cause: error });
}
