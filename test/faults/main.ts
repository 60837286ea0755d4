import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { crashMatrixPage } from './crash-matrix.page.ts';
import { faultRun, type Applied, type FaultReport } from './fault-run.ts';
import { openInstallation } from './installation.ts';
import type { Load } from './load.ts';
import { openMachinery } from './machinery.ts';
import { cutCommit, killAtEachPlace, COMMITS, stopAt } from './matrix.ts';
import { placesOf, type Mode } from './places.ts';
import { killAtRandom } from './random-kills.ts';
import { runSchedules } from './simulation/run-schedules.ts';

interface Options {
  readonly mode: Mode;
  readonly minutes?: number;
  readonly every: number;
  readonly matrix?: 'short' | 'full';
  readonly places: RegExp;
  readonly simulate: boolean;
  readonly schedules: number;
  readonly seed: number;
  readonly json: boolean;
  readonly write: boolean;
}

const number = (text: string): number => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('Give a number.');
  return Number(text);
};
const root = path.join(import.meta.dirname, '../..');
const RESULTS = path.join(root, 'docs/crash-matrix.json');
const PAGE = path.join(root, 'docs/crash-matrix.md');

const options = new Command('faults')
  .description('kills, stops and cuts what runs under load, and checks what became of each call')
  .addOption(new Option('--mode <mode>').choices(['embedded', 'stack']).default('embedded'))
  .option('--minutes <n>', 'kills at random for so long', number)
  .addOption(
    new Option('--matrix <extent>', 'each named place once; full: each fault at it, too').choices(['short', 'full']),
  )
  .option('--places <pattern>', 'with --matrix: only places whose names fit', (text) => new RegExp(text), /./)
  .option('--every <seconds>', 'with --minutes: between two faults', number, 11)
  .option('--simulate', 'plays schedules over the pure machines instead', false)
  .option('--schedules <n>', 'with --simulate', number, 20_000)
  .option('--seed <n>', 'repeats an order of faults, or the schedules', number, Date.now() % 1_000_000)
  .option('--json', 'one JSON document on stdout', false)
  .option('--write', 'keep the figures and write docs/crash-matrix.md', false)
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stderr.write(`${line}\n`);

if (options.simulate) {
  process.stdout.write(`${JSON.stringify(runSchedules(options))}\n`);
} else {
  const report = await play();
  const { applied, ...figures } = report;
  process.stdout.write(`${options.json ? JSON.stringify(ordered(figures)) : JSON.stringify(figures, null, 2)}\n`);
  if (options.write) {
    mkdirSync(path.dirname(PAGE), { recursive: true });
    writeFileSync(PAGE, crashMatrixPage(RESULTS, { ...report, applied }, options.matrix ? 'matrix' : 'random'));
  }
  process.exitCode = report.clean ? 0 : 1;
}

/** The promised figures first. */
function ordered(report: Omit<FaultReport, 'applied'>): object {
  const { kills, calls, lost, doubled, misreported, stuck, auditGaps, unknown, unknownExplained } = report;
  const { recoveryMsP50, recoveryMsMax } = report;
  const first = { kills, calls, lost, doubled, misreported, stuck, auditGaps, unknown, unknownExplained };
  return Object.assign(first, { recoveryMsP50, recoveryMsMax }, report);
}

async function play(): Promise<FaultReport> {
  const { mode } = options;
  say(`seed ${options.seed}`);
  const machinery = await openMachinery(mode, say);
  const end = async (): Promise<void> => machinery.close();
  try {
    const installation = await openInstallation({ mode, ...machinery.addresses });
    try {
      return await faultRun(
        installation,
        async (load) => {
          if (options.matrix) return playMatrix(installation, load);
          const { minutes = 1, seed, every } = options;
          const everyMs = every * 1_000;
          return killAtRandom(installation, load, { minutes, seed, everyMs, machinery: machinery.parts, say });
        },
        { workers: 4, restMs: options.matrix ? 50 : 0 },
      );
    } finally {
      await installation.close();
    }
  } finally {
    await end();
  }
}

async function playMatrix(installation: Parameters<typeof stopAt>[0], load: Load): Promise<Applied[]> {
  const all = placesOf(options.mode).filter(({ name }) => options.places.test(name));
  const applied = await killAtEachPlace(installation, load, all);
  for (const commit of COMMITS) applied.push(await cutCommit(installation, load, commit));
  const places = all.filter(({ service }) => options.matrix === 'full' || service === 'executor');
  for (const { service, name } of places)
    applied.push(await stopAt(installation, load, options.mode === 'stack' ? service : 'all-in-one', name));
  for (const { target, fault, recoveryMs } of applied) say(`${fault} at ${target}: ${recoveryMs ?? '–'} ms`);
  return applied;
}
