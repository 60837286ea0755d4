import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of the command line; flags go first. */
export const cliSettings = {
  COUNTERSIGN_URL: z
    .url({ protocol: /^https?$/, error: 'expected http://… or https://…' })
    .default('http://127.0.0.1:8080')
    .describe('address of the gateway that the command line talks to'),
  COUNTERSIGN_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'expected a credential: 1 to 512 visible ASCII characters')
    .optional()
    .describe('credential that the command line shows to the gateway'),
};

export const urlOption = (): Option =>
  new Option('--url <url>', 'address of the gateway')
    .env('COUNTERSIGN_URL')
    .default(cliSettings.COUNTERSIGN_URL.parse(undefined))
    .argParser(checked(cliSettings.COUNTERSIGN_URL));

export const tokenOption = (): Option =>
  new Option('--token <token>', 'credential; better given by the environment, which other users cannot list')
    .env('COUNTERSIGN_TOKEN')
    .argParser(checked(cliSettings.COUNTERSIGN_TOKEN));

export const databaseOption = (): Option =>
  new Option('--database-url <url>', 'PostgreSQL of an installation without Kafka').env('COUNTERSIGN_DATABASE_URL');

export const brokersOption = (): Option =>
  new Option('--brokers <host:port,…>', 'Kafka brokers of the installation')
    .env('COUNTERSIGN_KAFKA_BROKERS')
    .argParser((text: string) => addresses(text));

const checked =
  (schema: z.ZodType) =>
  (text: string): unknown => {
    const parsed = schema.safeParse(text);
    if (!parsed.success) throw new InvalidArgumentError(parsed.error.issues[0]!.message);
    return parsed.data;
  };

function addresses(text: string): string[] {
  const list = text.split(',').flatMap((part) => part.trim() || []);
  const bad = list.find((address) => !/^(\[[^\]]+\]|[^\s:]+):\d{1,5}$/.test(address));
  if (bad !== undefined) throw new InvalidArgumentError(`${JSON.stringify(bad)} is not host:port.`);
  return list;
}

export interface CliConfig {
  /** Output without colours (https://no-color.org). */
  readonly noColour: boolean;
  /** The shell's whole environment, for what starts or checks services. */
  readonly env: Environment;
}

export const cliConfig = (env: Environment = process.env): CliConfig => ({ noColour: Boolean(env.NO_COLOR), env });
