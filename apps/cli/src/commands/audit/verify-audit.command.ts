import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { AuditReport } from '#audit';
import { TOPICS } from '#contracts';
import { brokersOption, type CliConfig } from '../../cli.config.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { printableLine } from '../../output/printable.ts';
import { readKeys } from './read-keys.ts';

interface VerifyOptions extends GatewayOptions {
  readonly file?: string;
  readonly topic: boolean;
  readonly brokers?: readonly string[];
  readonly keys?: string;
}

export function addVerifyAudit(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'verify',
    summary: 'check the chain, its completeness and its signatures; exit 1 if a fault is found',
    examples: [
      'countersign audit verify                               # the ledgers of your tenant, by the gateway',
      'countersign audit verify --file audit.jsonl --keys keys.json',
      'countersign audit verify --topic --brokers localhost:9092',
    ],
  })
    .option('--file <file>', 'verify records in a file, one JSON text a line, instead of the gateway', filled)
    .option('--topic', 'verify the audit topic on Kafka instead of the gateway', false)
    .addOption(brokersOption())
    .option(
      '--keys <file>',
      'public keys that you trust (JSON: {"keys": […]}); else those that the gateway names',
      filled,
    )
    .action(async (options: VerifyOptions) => {
      const { out } = openGateway(config, options);
      if (options.file !== undefined && options.topic) throw usageFailure('give --file or --topic, not both');
      const keys = options.keys === undefined ? undefined : await readKeys(options.keys);
      const report = await reportOf(options, keys, out);
      out.progress(null);
      out.document(report);
      printReport(out, report);
      process.exitCode = report.verified ? EXIT.ok : EXIT.failed;
    });
}

async function reportOf(
  options: VerifyOptions,
  keys: readonly unknown[] | undefined,
  out: Output,
): Promise<AuditReport> {
  const { verifyAudit } = await import('#audit');
  const given = keys === undefined ? {} : { keys };
  if (options.file !== undefined) return verifyAudit(counted(await linesOf(options.file), out), given);
  if (options.topic) {
    if (!options.brokers?.length)
      throw usageFailure('--topic needs --brokers (or COUNTERSIGN_KAFKA_BROKERS): host:port, comma separated');
    const { readTopic } = await import('#bus');
    return verifyAudit(counted(texts(readTopic({ brokers: options.brokers, topic: TOPICS.auditEvents })), out), {
      ...given,
      order: 'topic',
    });
  }
  return overHttp(options, given, out);
}

async function overHttp(
  { url, token }: VerifyOptions,
  given: { keys?: readonly unknown[] },
  out: Output,
): Promise<AuditReport> {
  if (token === undefined)
    throw usageFailure('--token is missing: give --token or set COUNTERSIGN_TOKEN (an operator or auditor)');
  const { verifyOverHttp } = await import('#audit');
  const onProgress = (records: number): void => out.progress(`${records} records …`);
  return verifyOverHttp({ baseUrl: url, token, onProgress, ...given }).catch((error: Error) => {
    const status = Number(/answered (\d{3})/.exec(error.message)?.[1]);
    if (error.name === 'InfrastructureError')
      throw new CommandFailure(EXIT.unreachable, `${error.message}: start it, or name another with --url`);
    if (status === 401 || status === 403) throw new CommandFailure(EXIT.refused, error.message);
    throw error;
  });
}

async function linesOf(file: string): Promise<AsyncIterable<string>> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`--file: ${file} cannot be read (${error.code})`);
  });
  if (!found.isFile()) throw usageFailure(`--file: ${file} is not a file`);
  return nonEmpty(createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity }));
}

async function* nonEmpty(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) if (line.trim() !== '') yield line;
}

async function* texts(records: AsyncIterable<{ readonly value: Buffer | null }>): AsyncGenerator<string> {
  for await (const { value } of records) if (value !== null) yield value.toString('utf8');
}

async function* counted(source: AsyncIterable<string>, out: Output): AsyncGenerator<string> {
  let records = 0;
  for await (const text of source) {
    if (++records % 1000 === 0) out.progress(`${records} records …`);
    yield text;
  }
}

function printReport(out: Output, report: AuditReport): void {
  const { verified, records, faults } = report;
  out.line(
    verified
      ? out.paint('good', `verified: ${records} records, nothing is missing or changed`)
      : out.paint('bad', `NOT verified: ${report.faultCount} fault(s) in ${records} records`),
  );
  for (const { tenant, records: own, signed, runs, openRuns, calls } of report.tenants) {
    const count = report.ledgers.filter(({ ledger }) => ledger.startsWith(`${tenant}/`)).length;
    out.line(
      `  ${printableLine(tenant)}: ${own} records in ${count} ledgers, ${runs} runs (${openRuns} still open), ${calls} calls, ${signedAs(own, signed)}`,
    );
  }
  if (faults.length === 0) return;
  out.line();
  out.table(
    [
      { title: 'FAULT', of: (fault: (typeof faults)[number]) => fault.kind },
      { title: 'LEDGER', of: (fault) => fault.ledger },
      { title: 'RECORD', of: (fault) => (fault.sequence === 0 ? '' : String(fault.sequence)) },
      { title: 'WHAT', of: (fault) => fault.detail },
    ],
    faults,
    '',
  );
}

/** What no checkpoint covers could be cut off at its end, or written anew, without a trace. */
function signedAs(records: number, signed: number): string {
  if (signed === 0) return 'no signed checkpoint was checked (--keys): a cut at the end would not be noticed';
  return signed < records ? `${signed} of them signed: later ones are not covered yet` : `all of them signed`;
}
