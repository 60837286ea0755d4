import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { CountersignError } from '#kernel';
import { makeFolder } from '#runtime';
import { apiClient } from './api-client.ts';
import type { RunsAudit } from './audit-of-runs.ts';
import { demoConfig, type DemoConfig } from './demo.config.ts';
import { EXAMPLE_NAMES, type ExampleName } from './example-names.ts';
import { openExamples, type Examples } from './examples.ts';
import { openInstallation, type Installation, type Mode } from './installation.ts';
import type { DemoReport } from './report.ts';
import { finishEarlier, runExample, type FinishedExample } from './run-example.ts';
import { openScreen, type Screen } from './screen.ts';

export interface DemoOptions {
  readonly mode: Mode;
  readonly json: boolean;
  readonly dataDir: string;
  /** One of them; all, one after the other, if not given. */
  readonly example?: ExampleName | undefined;
}

const AGENT = 'dev.dev.alice.agent+auditor';
const APPROVER = 'dev.dev.bob.approver';
const APPROVER_ID = 'user:bob';

/** Runs the examples in an installation of its own and ends everything that it started. Answers the exit code. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const config = demoConfig();
  const screen = openScreen(options.json, config.noColour);
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse())
      await closer().catch((error: unknown) => screen.detail(String(error)));
  };
  const interrupted = (): void => void close().finally(() => process.exit(130));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  try {
    const report = await play(options, config, screen, closers);
    if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return report.runs.every((run) => run.status === 'completed') && report.audit.verified ? 0 : 1;
  } catch (error) {
    process.stderr.write(
      `\n${error instanceof CountersignError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  } finally {
    await close();
    process.removeListener('SIGINT', interrupted);
    process.removeListener('SIGTERM', interrupted);
  }
}

async function play(
  options: DemoOptions,
  config: DemoConfig,
  screen: Screen,
  closers: (() => Promise<void>)[],
): Promise<DemoReport> {
  screen.title(
    options.mode === 'embedded'
      ? 'Starting: all services in one process, its own PostgreSQL'
      : 'Starting: seven processes on Kafka, Redis and PostgreSQL',
  );
  const { examples, installation } = await open(options, config, screen, closers);
  const agent = apiClient(installation.gateway, AGENT);
  const callers = { agent, approver: apiClient(installation.gateway, APPROVER), approverId: APPROVER_ID };
  await finishEarlier(callers, screen);

  let startupMs: number | undefined;
  const accepted = (runId: string): void => {
    const afterMs = Math.round(performance.now());
    screen.step(
      startupMs === undefined
        ? `run ${runId} accepted ${afterMs} ms after the start of this command`
        : `run ${runId} accepted`,
    );
    startupMs ??= afterMs;
  };
  const finished: FinishedExample[] = [];
  for (const name of options.example === undefined ? EXAMPLE_NAMES : [options.example])
    finished.push(await runExample(name, examples, callers, screen, accepted));
  const runIds = finished.map(({ run }) => run.runId);
  const { auditOfRuns } = await import('./audit-of-runs.ts'); // not needed by the start
  const audit = await auditOfRuns(agent, installation.gateway, AGENT, runIds);
  showEnd(options, screen, audit);
  return {
    mode: options.mode,
    startupMs: startupMs!,
    services: installation.services(),
    endpoints: {
      http: installation.gateway,
      kafka: installation.kafka,
      postgres: installation.postgres,
      redis: installation.redis,
    },
    runs: finished.map(({ run }) => run),
    effects: Object.fromEntries(finished.map(({ run, effects }) => [run.example, effects])),
    audit: { records: audit.records, verified: audit.report.verified },
  };
}

async function open(
  options: DemoOptions,
  config: DemoConfig,
  screen: Screen,
  closers: (() => Promise<void>)[],
): Promise<{ readonly examples: Examples; readonly installation: Installation }> {
  const dataDir = path.resolve(options.dataDir);
  makeFolder(dataDir);
  const examples = await openExamples(dataDir, config.inherited, config.realModel);
  closers.push(() => examples.close());
  screen.step(
    examples.model === 'scripted'
      ? 'no OPENAI_API_KEY: a scripted model speaks the Responses wire format'
      : 'OPENAI_API_KEY is set: the real model speaks',
  );
  const installation = await openInstallation({
    mode: options.mode,
    dataDir,
    inherited: config.inherited,
    databaseUrl: config.databaseUrl,
    env: examples.env,
    say: (line) => screen.detail(line),
    onDatabase: (postgres) => examples.databaseReady(postgres),
    onEvent: (event) => {
      if (event.type === 'started') screen.detail(`${event.name}: pid ${event.pid}`);
      if (event.type === 'restarting') screen.step(`${event.name} died and is started again`);
    },
  });
  closers.push(() => installation.close());
  await examples.ready();
  screen.step(`ready at ${installation.gateway}`);
  return { examples, installation };
}

function showEnd(options: DemoOptions, screen: Screen, { records, report }: RunsAudit): void {
  screen.title('The audit ledgers');
  const signed = report.ledgers.reduce((sum, ledger) => sum + ledger.signedUpTo, 0);
  screen.step(
    report.verified
      ? `${records} records of these runs; all ledgers were verified without a fault: ${report.records} records, ${signed} of them under a signed checkpoint`
      : `the ledgers have ${report.faultCount} fault(s)`,
  );
  for (const fault of report.faults.slice(0, 5)) screen.detail(`${fault.kind} at ${fault.sequence}: ${fault.detail}`);
  screen.title('Where to look next');
  screen.detail('ARCHITECTURE.md: the path of a call, file by file');
  screen.detail(
    `examples/: the workspaces that you just saw, each with a README; ${path.join(options.dataDir, 'logs')}: the logs`,
  );
  screen.detail(
    options.mode === 'embedded'
      ? 'npm run demo -- --mode stack: the same on Kafka, Redis and PostgreSQL'
      : 'npm run stack:up, then this demo again: the topics stay for you to read',
  );
}
