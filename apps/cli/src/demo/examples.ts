import { startScriptedServer } from '#providers';
import { freePort, type Environment } from '#runtime';
import { EXAMPLE_CATALOGUE, exampleOf, scriptOfAll } from './example-catalogue.ts';
import type { ExampleName } from './example-names.ts';
import { startExampleProcess, type ExampleProcess } from './example-process.ts';

/** The examples' own systems, and a model: what the demo needs around the installation. */
export interface Examples {
  readonly model: 'scripted' | 'openai';
  readonly env: Environment;
  /** Starts the services that need a database; the others run already. What it returns ends these. */
  databaseReady(postgres: string): () => Promise<void>;
  /** Waits until all services answer. */
  ready(): Promise<void>;
  /** What the agent is asked. */
  task(name: ExampleName): Promise<string>;
  /** What the source system holds for this task. */
  effects(name: ExampleName, taskId: string): Promise<Effects>;
  close(): Promise<void>;
}

export interface Effects {
  readonly source: string;
  readonly count: number;
  readonly items: readonly unknown[];
}

/**
 * All examples are there whichever is run, so that runs which an earlier start left behind find their systems.
 * @param inherited what their processes get of our own environment
 * @param real whether the shell's OPENAI_API_KEY is used; else a scripted model speaks
 */
export async function openExamples(dataDir: string, inherited: Environment, real: boolean): Promise<Examples> {
  const { OPENAI_API_KEY: _key, ...env } = inherited;
  const ports = new Map<ExampleName, number>();
  for (const { name } of EXAMPLE_CATALOGUE) ports.set(name, await freePort());
  const urlOf = (name: ExampleName): string => `http://127.0.0.1:${ports.get(name)}`;
  const scripted = real ? undefined : await startScriptedServer({ script: scriptOfAll });
  const processes: ExampleProcess[] = [];
  for (const entry of EXAMPLE_CATALOGUE)
    if (entry.serviceEnv === null) processes.push(startExampleProcess(entry, ports.get(entry.name)!, dataDir, env));
  return {
    model: real ? 'openai' : 'scripted',
    env: {
      COUNTERSIGN_WORKSPACES: EXAMPLE_CATALOGUE.map(({ workspace }) => workspace).join(','),
      COUNTERSIGN_TOOL_ENV: EXAMPLE_CATALOGUE.map(({ urlVariable }) => urlVariable).join(','),
      ...Object.fromEntries(EXAMPLE_CATALOGUE.map(({ name, urlVariable }) => [urlVariable, urlOf(name)])),
      ...(scripted ? { COUNTERSIGN_OPENAI_BASE_URL: scripted.url, OPENAI_API_KEY: 'scripted' } : {}),
    },
    databaseReady(postgres) {
      const started = EXAMPLE_CATALOGUE.flatMap((entry) =>
        entry.serviceEnv === null
          ? []
          : [startExampleProcess(entry, ports.get(entry.name)!, dataDir, { ...env, ...entry.serviceEnv(postgres) })],
      );
      processes.push(...started);
      return () => stopAll(started);
    },
    async ready() {
      await Promise.all(processes.map((process) => process.ready()));
    },
    task: async (name) => exampleOf(name).task(urlOf(name)),
    async effects(name, taskId) {
      const { effects } = exampleOf(name);
      const source = `${urlOf(name)}/${effects}`;
      const answer = (await (await fetch(source)).json()) as Record<string, { idempotency_key: string | null }[]>;
      const items = answer[effects]!.filter((item) => item.idempotency_key?.includes(taskId));
      return { source, count: items.length, items };
    },
    async close() {
      await scripted?.close();
      await stopAll(processes);
    },
  };
}

const stopAll = async (processes: readonly ExampleProcess[]): Promise<void> => {
  await Promise.all(processes.map((process) => process.stop()));
};
