import { spawn } from 'node:child_process';
import path from 'node:path';
import { startScriptedServer } from '#providers';
import type { Environment } from '#runtime';
import { script, TASK } from '../../../../examples/incident-triage/script.ts';

/** The example's own systems, and a model: what the demo needs around the installation. */
export interface Examples {
  readonly model: 'scripted' | 'openai';
  /** What the agent is asked. */
  readonly task: string;
  readonly env: Environment;
  /** What the source system holds for this task. */
  effects(taskId: string): Promise<{ source: string; count: number; items: readonly unknown[] }>;
  close(): Promise<void>;
}

const WORKSPACE = path.resolve(import.meta.dirname, '../../../../examples/incident-triage');
const READY_LIMIT_MS = 20_000;

/** @param real whether the shell's OPENAI_API_KEY is used; else a scripted model speaks */
export async function openExamples(dataDir: string, real: boolean): Promise<Examples> {
  const desk = await startIncidentDesk(path.join(path.resolve(dataDir), 'incidents'));
  const scripted = real ? undefined : await startScriptedServer({ script });
  return {
    model: real ? 'openai' : 'scripted',
    task: TASK,
    env: {
      COUNTERSIGN_WORKSPACES: WORKSPACE,
      COUNTERSIGN_TOOL_ENV: 'INCIDENTS_URL',
      INCIDENTS_URL: desk.url,
      ...(scripted ? { COUNTERSIGN_OPENAI_BASE_URL: scripted.url, OPENAI_API_KEY: 'scripted' } : {}),
    },
    async effects(taskId) {
      const source = `${desk.url}/tickets`;
      const { tickets } = (await (await fetch(source)).json()) as { tickets: { idempotency_key: string | null }[] };
      const items = tickets.filter((ticket) => ticket.idempotency_key?.includes(taskId));
      return { source, count: items.length, items };
    },
    async close() {
      await scripted?.close();
      await desk.stop();
    },
  };
}

/** The incident desk is a process of its own, as a real system would be; it ends with us. */
async function startIncidentDesk(dataDir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const main = path.join(WORKSPACE, 'service/main.js');
  const child = spawn(process.execPath, [main, '--port', '0', '--data', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the incident desk did not start')), READY_LIMIT_MS);
    child.stdout!.once('data', (line: Buffer) => {
      clearTimeout(timer);
      resolve((JSON.parse(line.toString()) as { url: string }).url);
    });
    child.once('exit', (code) => reject(new Error(`the incident desk ended (${code})`)));
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
