import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { GatewayClient, Page, Query } from '../../client/gateway-client.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { callId, runId, wholeNumber } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { printableLine } from '../../output/printable.ts';

interface TailOptions extends GatewayOptions {
  readonly run?: string;
  readonly call?: string;
  readonly limit: number;
  readonly follow: boolean;
}

/** A CloudEvent of the audit, as far as a line of it goes. */
interface AuditRecord {
  readonly type: string;
  readonly ledger?: string;
  readonly time?: string;
  readonly subject?: string;
  readonly sequence?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const PAGE = 500;
const LOOK_MS = 500;
const TYPE = /^dev\.countersign\.(.+)\.v\d+$/;
const SHOWN = ['tool', 'status', 'decision', 'effect', 'errorCode', 'error_code', 'outcome', 'principal'];

export function addTailAudit(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'tail',
    summary: 'print the last audit records; with --follow also those that come',
    examples: [
      'countersign audit tail --limit 50',
      'countersign audit tail --follow --json > audit.jsonl',
      'countersign audit tail --run run_01kb…',
    ],
  })
    .option('--run <run>', 'only records of this run', runId)
    .option('--call <call>', 'only records of this call', callId)
    .option('--limit <n>', 'how many of the last records', wholeNumber(1, 1_000_000), 20)
    .option('--follow', 'go on until you stop it (Ctrl-C)', false)
    .action(async ({ run, call, limit, follow, ...options }: TailOptions) => {
      const { client, out } = openGateway(config, options);
      await tail(client, out, { runId: run, callId: call }, limit, follow);
    });
}

async function tail(client: GatewayClient, out: Output, filter: Query, limit: number, follow: boolean): Promise<void> {
  let gathered = new Map<string, AuditRecord[]>();
  const gather = (records: readonly AuditRecord[]): void => {
    for (const record of records) {
      const own = gathered.get(record.ledger ?? '') ?? [];
      gathered.set(record.ledger ?? '', own);
      own.push(record);
      if (own.length > 2 * limit) own.splice(0, own.length - limit);
    }
    out.progress('reading the audit …');
  };
  let cursor = await readOn(client, filter, '', gather);
  out.progress(null);
  for (const record of byTime(gathered.values()).slice(-limit)) print(out, record);
  while (follow) {
    await delay(LOOK_MS);
    gathered = new Map();
    cursor = await readOn(client, filter, cursor, gather);
    out.progress(null);
    for (const record of byTime(gathered.values())) print(out, record);
  }
}

/** Records of all ledgers by their time. Those of one ledger keep its order: what is printed as JSON can be verified. */
function byTime(ledgers: Iterable<readonly AuditRecord[]>): AuditRecord[] {
  const sources = [...ledgers].map((records) => ({ records, at: 0 }));
  const merged: AuditRecord[] = [];
  for (;;) {
    let first: (typeof sources)[number] | undefined;
    for (const source of sources) {
      const next = source.records[source.at];
      if (next && (!first || (next.time ?? '') < (first.records[first.at]!.time ?? ''))) first = source;
    }
    if (!first) return merged;
    merged.push(first.records[first.at++]!);
  }
}

/** Reads what follows the cursor. @returns the cursor behind it */
async function readOn(
  client: GatewayClient,
  filter: Query,
  from: string,
  see: (records: readonly AuditRecord[]) => void,
): Promise<string> {
  const { cursorAfter, readCursor, writeCursor } = await import('#contracts');
  for (let cursor = from; ;) {
    const page = await client.get<Page<AuditRecord>>('/v1/audit', {
      ...filter,
      limit: PAGE,
      after: cursor === '' ? undefined : cursor,
    });
    if (page.items.length > 0) see(page.items);
    cursor = writeCursor(cursorAfter(readCursor(cursor), page.items));
    if (page.next === null) return cursor;
  }
}

function print(out: Output, record: AuditRecord): void {
  out.jsonLine(record);
  const name = TYPE.exec(record.type)?.[1] ?? record.type;
  const details = SHOWN.flatMap((field) => {
    const value = record.data?.[field];
    return typeof value === 'string' ? [`${field}=${value}`] : [];
  });
  const time = out.paint('dim', record.time ?? '');
  out.line(`${time}  ${name.padEnd(16)}  ${printableLine([record.subject ?? '', ...details].join('  '))}`);
}
