import path from 'node:path';
import type { Script } from '#providers';
import type { Environment } from '#runtime';
import * as incidents from '../../../../examples/incident-triage/script.ts';
import { placeOrders } from '../../../../examples/refund/place-orders.ts';
import * as refund from '../../../../examples/refund/script.ts';
import * as research from '../../../../examples/research/script.ts';
import type { ExampleName } from './example-names.ts';

/** What the demo knows of an example beside its workspace. */
export interface ExampleEntry {
  /** Also the name of its agent. */
  readonly name: ExampleName;
  readonly workspace: string;
  /** What the agent is asked; given the address of its service, which may have to get ready for it. */
  readonly task: (serviceUrl: string) => string | Promise<string>;
  readonly script: Script;
  /** Of the names that a model sees. */
  readonly toolPrefix: string;
  /** The setting by which its tools find its service. */
  readonly urlVariable: string;
  /** Arguments of its service beside the port. */
  readonly serviceArguments: (dataDir: string) => readonly string[];
  /** Null: it needs no database. */
  readonly serviceEnv: ((postgres: string) => Environment) | null;
  /** Where its service lists what was done: the route, and the field of the answer. */
  readonly effects: string;
}

const EXAMPLES = path.resolve(import.meta.dirname, '../../../../examples');
const workspace = (name: ExampleName): string => path.join(EXAMPLES, name);

export const EXAMPLE_CATALOGUE: readonly ExampleEntry[] = [
  {
    name: 'incident-triage',
    workspace: workspace('incident-triage'),
    task: () => incidents.TASK,
    script: incidents.script,
    toolPrefix: 'incidents__',
    urlVariable: 'INCIDENTS_URL',
    serviceArguments: (dataDir) => ['--data', path.join(dataDir, 'incidents')],
    serviceEnv: null,
    effects: 'tickets',
  },
  {
    name: 'research',
    workspace: workspace('research'),
    task: () => research.TASK,
    script: research.script,
    toolPrefix: 'research__',
    urlVariable: 'RESEARCH_URL',
    serviceArguments: () => [],
    serviceEnv: (postgres) => ({ RESEARCH_DATABASE_URL: postgres }),
    effects: 'drafts',
  },
  {
    name: 'refund',
    workspace: workspace('refund'),
    task: placeOrders,
    script: refund.script,
    toolPrefix: 'orders__',
    urlVariable: 'ORDERS_URL',
    serviceArguments: (dataDir) => ['--data', path.join(dataDir, 'orders')],
    serviceEnv: null,
    effects: 'refunds',
  },
];

export const exampleOf = (name: ExampleName): ExampleEntry => EXAMPLE_CATALOGUE.find((entry) => entry.name === name)!;

/** One scripted model for all of them: which script speaks is told by the tools that the run offers. */
export const scriptOfAll: Script = (request) => {
  const example = EXAMPLE_CATALOGUE.find(({ toolPrefix }) => request.tools.some((tool) => tool.startsWith(toolPrefix)));
  if (!example) throw new Error('no example offers these tools');
  return example.script(request);
};
