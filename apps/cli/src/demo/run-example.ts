import { ENDED, type RunView } from './api-client.ts';
import { exampleOf } from './example-catalogue.ts';
import type { ExampleName } from './example-names.ts';
import type { Effects, Examples } from './examples.ts';
import { followRun, type Callers } from './follow-run.ts';
import { freshTask } from './installation.ts';
import { reportedRun, type ReportedRun } from './report.ts';
import type { Screen } from './screen.ts';

export interface FinishedExample {
  readonly run: ReportedRun;
  readonly effects: Effects;
}

/** One new task for the agent of an example, followed to its end, and its effects read back from the source system. */
export async function runExample(
  name: ExampleName,
  examples: Examples,
  callers: Callers,
  screen: Screen,
  onAccepted: (runId: string) => void,
): Promise<FinishedExample> {
  const task = await examples.task(name);
  screen.title(`Example ${name}: a new task`);
  const taskId = freshTask(name);
  const { runId } = await callers.agent.post<{ runId: string }>(
    '/v1/runs',
    { agent: name, input: task, taskId, labels: { demo: 'yes', example: name } },
    { key: taskId },
  );
  onAccepted(runId);
  screen.detail(task);
  const followed = await followRun(callers, screen, runId);
  const { run } = followed;
  screen.title(`The run ended: ${run.status}, outcome by the journal: ${run.outcome ?? 'none'}`);
  if (run.cause) screen.detail(`${run.cause.code}: ${run.cause.message}`);
  if (run.answer) screen.detail(`the model says (untrusted): ${run.answer}`);
  const effects = await examples.effects(name, taskId);
  screen.step(
    `read back from the source system: ${effects.count} ${exampleOf(name).effects} of this task in ${effects.source}`,
  );
  for (const item of effects.items) screen.detail(JSON.stringify(item));
  return { run: reportedRun(name, followed), effects };
}

/** Runs that an earlier start left behind (it was killed) go on by themselves; what waits for a person is decided now. */
export async function finishEarlier(callers: Callers, screen: Screen): Promise<void> {
  const { items } = await callers.agent.get<{ items: (RunView & { labels?: Record<string, string> })[] }>(
    '/v1/runs?limit=100',
  );
  for (const run of items.filter((r) => !ENDED.has(r.status) && r.labels?.demo === 'yes')) {
    screen.title(`An earlier start left run ${run.runId} behind: it goes on`);
    const { run: ended } = await followRun(callers, screen, run.runId);
    screen.step(`it ended: ${ended.status}`);
  }
}
