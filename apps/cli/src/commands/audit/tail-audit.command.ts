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
  let last: AuditRecord[] = [];
  let cursor = await readOn(client, filter, '', (records) => {
    last = newest([...last, ...records], limit);
    out.progress('reading the audit …');
  });
  out.progress(null);
  for (const record of last) print(out, record);
  while (follow) {
    await delay(LOOK_MS);
    const come: AuditRecord[] = [];
    cursor = await readOn(client, filter, cursor, (records) => come.push(...records));
    for (const record of newest(come)) print(out, record);
  }
}

/** Records of all ledgers by their time, the newest last. */
const newest = (records: readonly AuditRecord[], limit = Infinity): AuditRecord[] =>
  records.toSorted((a, b) => (a.time ?? '').localeCompare(b.time ?? '')).slice(-limit);

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
