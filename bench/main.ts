import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { closedLoop, round } from './load/closed-loop.ts';
import { cpuSeconds } from './load/cpu.ts';
import { openStatementCounter } from './load/statements.ts';
import { openBench, type BenchInstallation, type Mode } from './installation.ts';

interface Level {
  readonly c: number;
  readonly calls: number;
}

interface BenchOptions {
  readonly mode: Mode;
  readonly json: boolean;
  readonly levels: readonly Level[];
  readonly serve: boolean;
  readonly sink?: string;
  readonly pids?: string;
  readonly top: boolean;
  readonly partitions: number;
}

const parseLevels = (text: string): Level[] =>
  text.split(',').map((part) => {
    const [c, calls] = part.split(':').map(Number);
    if (!Number.isInteger(c) || !Number.isInteger(calls) || c! < 1 || c! > 1024 || calls! < 1) {
      throw new InvalidArgumentError(`"${part}" is not concurrency:calls, such as 64:4000.`);
    }
    return { c: c!, calls: calls! };
  });

const parsePartitions = (text: string): number => {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1 || n > 64) throw new InvalidArgumentError('Give a number from 1 to 64.');
  return n;
};

const program = new Command('bench')
  .description('measures governed writes against a local HTTP effect sink')
  .addOption(new Option('--mode <mode>').choices(['embedded', 'stack']).default('embedded'))
  .option('--json', 'print one JSON document on stdout', false)
  .option(
    '--levels <list>',
    'concurrency:calls, comma separated',
    parseLevels,
    parseLevels('1:300,16:2000,64:4000,128:6000'),
  )
  .option('--partitions <n>', 'partitions of each Kafka topic: one replica a service needs few', parsePartitions, 2)
  .option('--serve', 'keep serving POST /bench/calls for another harness until it is stopped', false)
  .option('--sink <url>', 'effect sink that runs already (with --serve)')
  .option('--pids <file>', 'write the root pids that count into this file (with --serve)')
  .option('--top', 'show the statements that took the most time', false);

/** Before the first level. */
const WARM_UP = { c: 32, calls: 2000 };

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const options = program.parse().opts<BenchOptions>();
const opening = openBench({ mode: options.mode, sinkUrl: options.sink, partitions: options.partitions, say });
let ending: Promise<void> | undefined;
/** Also while it is still being opened: what was started is stopped. */
const end = (): Promise<void> => (ending ??= opening.then((opened) => opened.close()));
process.once('SIGINT', () => void end().then(() => process.exit(130)));
process.once('SIGTERM', () => void end().then(() => process.exit(0)));
try {
  const bench = await opening;
  if (options.serve) await serve(bench);
  else await measure(bench);
} finally {
  await end();
}

async function serve(installation: BenchInstallation): Promise<void> {
  const write = (): void => {
    if (options.pids) writeFileSync(options.pids, `${Object.values(installation.pids()).flat().join(' ')}\n`);
  };
  write();
  setInterval(write, 500);
  process.stdout.write(`${installation.url}\n`);
  await new Promise(() => undefined);
}

async function measure(installation: BenchInstallation): Promise<void> {
  const counter = await openStatementCounter(installation.databaseUrl);
  const prefix = `bench-${process.pid}-${Date.now().toString(36)}`;
  const levels = [];
  await closedLoop(installation.url, WARM_UP.c, WARM_UP.calls, `${prefix}-warm`); // compilers, caches and pools of all parts
  for (const { c, calls } of options.levels) {
    await closedLoop(installation.url, c, Math.max(50, Math.ceil(calls / 10)), `${prefix}-${c}-warm`);
    const before = { cpu: cpuByPart(installation), statements: await counter.count() };
    const result = await closedLoop(installation.url, c, calls, `${prefix}-${c}`);
    const after = { cpu: cpuByPart(installation), statements: await counter.count() };
    const parts = Object.fromEntries(
      Object.keys(after.cpu).map((name) => [
        name,
        round(((after.cpu[name]! - (before.cpu[name] ?? 0)) * 1000) / calls, 3),
      ]),
    );
    const cpuMsPerCall = round(
      Object.values(parts).reduce((a, b) => a + b, 0),
      3,
    );
    const sqlPerCall = round((after.statements - before.statements) / calls, 2);
    levels.push({
      c,
      perSecond: result.perSecond,
      p50: result.p50,
      p95: result.p95,
      p99: result.p99,
      cpuMsPerCall,
      sqlPerCall,
      errors: result.errors,
    });
    say(
      `c=${c}: ${result.perSecond}/s, p50 ${result.p50} ms, p95 ${result.p95} ms, p99 ${result.p99} ms, ${cpuMsPerCall} ms CPU, ${sqlPerCall} statements a call` +
        `${result.errors > 0 ? `, ${result.errors} errors (${result.firstError})` : ''}  ${JSON.stringify(parts)}`,
    );
  }
  if (options.top)
    for (const row of await counter.top(25))
      say(`${row.ms.toFixed(0).padStart(8)} ms ${String(row.calls).padStart(8)} × ${row.query.replace(/\s+/g, ' ')}`);
  await counter.close();
  if (options.json) process.stdout.write(`${JSON.stringify({ mode: options.mode, levels }, null, 2)}\n`);
  if (levels.some((level) => level.errors > 0)) process.exitCode = 1;
}

function cpuByPart(installation: BenchInstallation): Record<string, number> {
  return Object.fromEntries(Object.entries(installation.pids()).map(([name, pids]) => [name, cpuSeconds(pids)]));
}
