import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { CountersignError } from '#kernel';
import { makeFolder } from '#runtime';
import { apiClient, ENDED, type ApiClient, type RunView } from './api-client.ts';
import { demoConfig, type DemoConfig } from './demo.config.ts';
import { openExamples, type Examples } from './examples.ts';
import { followRun, type FollowedRun } from './follow-run.ts';
import { freshTask, openInstallation, type Installation, type Mode } from './installation.ts';
import { reportedRun, type DemoReport } from './report.ts';
import { openScreen, type Screen } from './screen.ts';

export interface DemoOptions {
  readonly mode: Mode;
  readonly json: boolean;
  readonly dataDir: string;
}

const AGENT = 'dev.dev.alice.agent+auditor';
const APPROVER = 'dev.dev.bob.approver';
const APPROVER_ID = 'user:bob';
const EXAMPLE = 'incident-triage';

/** Runs the example in an installation of its own and ends everything that it started. Answers the exit code. */
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
    return report.runs.every((run) => run.status === 'completed') ? 0 : 1;
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
  makeFolder(path.resolve(options.dataDir));
  const examples = await openExamples(options.dataDir, config.realModel);
  closers.push(() => examples.close());
  screen.step(
    examples.model === 'scripted'
      ? 'no OPENAI_API_KEY: a scripted model speaks the Responses wire format'
      : 'OPENAI_API_KEY is set: the real model speaks',
  );
  const installation = await openInstallation({
    mode: options.mode,
    dataDir: path.resolve(options.dataDir),
    inherited: config.inherited,
    databaseUrl: config.databaseUrl,
    env: examples.env,
    say: (line) => screen.detail(line),
    onEvent: (event) => {
      if (event.type === 'started') screen.detail(`${event.name}: pid ${event.pid}`);
      if (event.type === 'restarting') screen.step(`${event.name} died and is started again`);
    },
  });
  closers.push(() => installation.close());
  screen.step(`ready at ${installation.gateway}`);
  const agent = apiClient(installation.gateway, AGENT);
  const callers = { agent, approver: apiClient(installation.gateway, APPROVER), approverId: APPROVER_ID };
  await finishEarlier(callers, screen);

  screen.title(`Example ${EXAMPLE}: a new task`);
  const taskId = freshTask(EXAMPLE);
  const { runId } = await agent.post<{ runId: string }>(
    '/v1/runs',
    { agent: EXAMPLE, input: examples.task, taskId, labels: { demo: 'yes' } },
    { key: taskId },
  );
  const startupMs = Math.round(performance.now());
  screen.step(`run ${runId} accepted ${startupMs} ms after the start of this command`);
  const followed = await followRun(callers, screen, runId);
  const { run } = followed;
  screen.title(`The run ended: ${run.status}, outcome by the journal: ${run.outcome ?? 'none'}`);
  if (run.cause) screen.detail(`${run.cause.code}: ${run.cause.message}`);
  if (run.answer) screen.detail(`the model says (untrusted): ${run.answer}`);
  return conclude(options, screen, examples, installation, agent, followed, taskId, startupMs);
}

/** Runs that an earlier start left behind (it was killed) go on by themselves; what waits for a person is decided now. */
async function finishEarlier(callers: Parameters<typeof followRun>[0], screen: Screen): Promise<void> {
  const { items } = await callers.agent.get<{ items: (RunView & { labels?: Record<string, string> })[] }>(
    '/v1/runs?limit=100',
  );
  for (const run of items.filter((r) => !ENDED.has(r.status) && r.labels?.demo === 'yes')) {
    screen.title(`An earlier start left run ${run.runId} behind: it goes on`);
    const { run: ended } = await followRun(callers, screen, run.runId);
    screen.step(`it ended: ${ended.status}`);
  }
}

async function conclude(
  options: DemoOptions,
  screen: Screen,
  examples: Examples,
  installation: Installation,
  agent: ApiClient,
  followed: FollowedRun,
  taskId: string,
  startupMs: number,
): Promise<DemoReport> {
  const effects = await examples.effects(taskId);
  screen.title('Read back from the source system');
  for (const item of effects.items) screen.detail(JSON.stringify(item));
  screen.step(`${effects.count} ticket(s) of this task in ${effects.source}`);
  const records = await auditRecords(agent, followed.run.runId);
  screen.step(`${records} audit records of this run`);
  screen.title('Where to look next');
  screen.detail('ARCHITECTURE.md: the path of this call, file by file');
  screen.detail(
    `examples/${EXAMPLE}: the workspace that you just saw; ${path.join(options.dataDir, 'logs')}: the logs`,
  );
  screen.detail(
    options.mode === 'embedded'
      ? 'npm run demo -- --mode stack: the same on Kafka, Redis and PostgreSQL'
      : 'npm run stack:up, then this demo again: the topics stay for you to read',
  );
  return {
    mode: options.mode,
    startupMs,
    services: installation.services(),
    endpoints: {
      http: installation.gateway,
      kafka: installation.kafka,
      postgres: installation.postgres,
      redis: installation.redis,
    },
    runs: [reportedRun(EXAMPLE, followed)],
    effects: { [EXAMPLE]: effects },
    audit: { records },
  };
}

interface AuditPage {
  readonly items: readonly { readonly type: string; readonly data: { readonly runId?: string } }[];
  readonly next?: string | null;
}

const AUDIT_LIMIT_MS = 20_000;

/** Telemetry is off the path: waits until the run's end is recorded, then counts the run's records. */
async function auditRecords(agent: ApiClient, runId: string): Promise<number> {
  for (const until = Date.now() + AUDIT_LIMIT_MS; ; await delay(50)) {
    const records: string[] = [];
    for (let after: string | null | undefined = ''; after !== null && after !== undefined;) {
      const page: AuditPage = await agent.get<AuditPage>(
        `/v1/audit?runId=${runId}&limit=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
      );
      records.push(...page.items.map((item) => item.type));
      after = page.next;
    }
    if (records.some((type) => type.includes('run.ended')) || Date.now() > until) return records.length;
  }
}
