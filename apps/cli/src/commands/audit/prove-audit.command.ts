import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { CheckedProof } from '#audit';
import { CALL_ID_PATTERN } from '#kernel';
import type { CliConfig } from '../../cli.config.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { printableLine } from '../../output/printable.ts';
import { readKeys } from './read-keys.ts';

interface ProveOptions extends GatewayOptions {
  readonly since?: string;
  readonly keys?: string;
}

interface Proved {
  readonly proof: unknown;
  readonly check: CheckedProof;
  readonly what: string;
}

export function addProveAudit(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'prove',
    summary: 'prove that a record or a call is in the signed audit, or that it only grew; exit 1 if it does not hold',
    examples: [
      'countersign audit prove call_01kb…_0001              # the terminal record of a call',
      'countersign audit prove evt_4zq…                     # any record, by its id',
      'countersign audit prove --since checkpoint.json      # only growth since a checkpoint that you kept',
    ],
  })
    .argument('[record]', 'id of a call, or of an audit record', recordId)
    .option('--since <file>', 'a checkpoint that you kept: one item of GET /v1/audit/checkpoints', filled)
    .option(
      '--keys <file>',
      'public keys that you trust (JSON: {"keys": […]}); else those that the gateway names',
      filled,
    )
    .action(async (record: string | undefined, options: ProveOptions) => {
      if ((record === undefined) === (options.since === undefined))
        throw usageFailure('give the id of a call or a record, or --since, and not both');
      const { client, out } = openGateway(config, options);
      const keys =
        options.keys === undefined
          ? (await client.get<{ keys: unknown[] }>('/v1/audit/keys')).keys
          : await readKeys(options.keys);
      const proved =
        record === undefined
          ? await sinceCheckpoint(client, options.since!, keys)
          : [await ofRecord(client, record, keys)];
      print(out, proved);
    });
}

function recordId(text: string): string {
  if (CALL_ID_PATTERN.test(text) || /^evt_[0-9a-z]{26}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the id of a call (call_…) or of an audit record (evt_…).');
}

async function ofRecord(client: GatewayClient, record: string, keys: readonly unknown[]): Promise<Proved> {
  const { checkProof } = await import('#audit');
  const query = record.startsWith('evt_') ? { eventId: record } : { callId: record };
  const proof = await client.get<{ ledger: string; sequence: number }>('/v1/audit/proof', query);
  const what = `record ${proof.sequence} of the ledger ${proof.ledger}`;
  return { proof, check: checkProof(proof, { keys }), what };
}

/** Each ledger that the kept checkpoint names: its records then are the beginning of its records now. */
async function sinceCheckpoint(client: GatewayClient, file: string, keys: readonly unknown[]): Promise<Proved[]> {
  const { checkProof, showCheckpoint } = await import('#audit');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`--since: ${file} cannot be read (${error.code})`);
  });
  let kept: ReturnType<typeof showCheckpoint>;
  try {
    kept = showCheckpoint((JSON.parse(text) as { jws: string }).jws, '');
  } catch {
    throw usageFailure(`--since: ${file} is no checkpoint: save one item of GET /v1/audit/checkpoints`);
  }
  const proved: Proved[] = [];
  for (const { ledger, size } of kept.ledgers) {
    const proof = await client.get<unknown>('/v1/audit/proof', { ledger, from: size });
    const check = checkProof(proof, { keys, since: kept.jws });
    proved.push({ proof, check, what: `the ledger ${ledger} since it had ${size} records` });
  }
  return proved;
}

function print(out: Output, proved: readonly Proved[]): void {
  out.document(proved.length === 1 ? proved[0] : proved);
  for (const { check, what } of proved)
    out.line(
      check.holds
        ? `${out.paint('good', 'proved')}: ${printableLine(what)}, within the ${check.size} records that were signed at ${check.signedAt}`
        : `${out.paint('bad', 'NOT proved')}: ${printableLine(what)}: ${check.reason}`,
    );
  process.exitCode = proved.every(({ check }) => check.holds) ? EXIT.ok : EXIT.failed;
}
