import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startScriptedServer, type Script } from '#providers';
import { script as triage } from '../../examples/incident-triage/script.ts';
import { start as startIncidents } from '../../examples/incident-triage/service/start.ts';
import { startBookingOffice, type BookingOffice } from './booking-office.ts';
import { startEffectSink, type EffectSink } from './effect-sink.ts';
import { playPlan } from './plan.script.ts';

/** What lies outside the installation under test: source systems and the model. */
export interface World {
  readonly sink: EffectSink;
  readonly office: BookingOffice;
  readonly incidentsUrl: string;
  /** Settings of the services for it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const here = import.meta.dirname;

/** One model for both agents: who is offered probe tools plays the plan of its user. */
const script: Script = (request) =>
  request.tools.some((tool) => tool.startsWith('probe__')) ? playPlan(request) : triage(request);

export async function startWorld(examples = path.join(here, '../../examples')): Promise<World> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-world-'));
  const sink = await startEffectSink();
  const office = await startBookingOffice();
  const incidents = await startIncidents(0, directory);
  const model = await startScriptedServer({ script });
  return {
    sink,
    office,
    incidentsUrl: incidents.url,
    env: {
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_WORKSPACES: `${path.join(examples, 'incident-triage')},${path.join(here, 'workspace')}`,
      COUNTERSIGN_TOOL_ENV: 'INCIDENTS_URL,PROBE_URL,BOOKING_URL',
      INCIDENTS_URL: incidents.url,
      PROBE_URL: sink.url,
      BOOKING_URL: office.url,
      COUNTERSIGN_OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
    },
    async close() {
      await model.close();
      await incidents.close();
      await sink.close();
      await office.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
