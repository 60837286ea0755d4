import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { startScriptedServer } from '#providers';
import { openEmbedded } from '../e2e/open-embedded.ts';
import { playPlan } from '../e2e/plan.script.ts';
import type { System } from '../e2e/system.ts';
import type { Case } from './expand-case.ts';

interface DeclaredTool {
  readonly name: string;
  readonly layer: 'read' | 'write';
  readonly input: Record<string, unknown>;
  readonly approval: 'always';
  readonly approvalTtlMs?: number;
}

/** The installation of one case: its tools, an agent that has them, and what lies behind them. */
export interface ApprovalWorld {
  readonly system: System;
  /** Arguments that reached the source, by tool, in order. */
  readonly effects: Readonly<Record<string, Record<string, unknown>[]>>;
  readonly providerRequests: () => number;
  /** From now on answers of the source wait until `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

/** @param ttlMs instead of the case's own, so that its minutes pass in seconds */
export async function openApprovalWorld(one: Case, ttlMs?: number): Promise<ApprovalWorld> {
  const tools = one.given.tools as DeclaredTool[];
  const folder = workspaceOf(tools, ttlMs);
  const source = await startSource(tools.map((tool) => tool.name));
  const model = await startScriptedServer({ script: playPlan });
  const system = await openEmbedded({
    sink: { url: source.url } as never,
    incidentsUrl: source.url,
    env: {
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_WORKSPACES: folder,
      COUNTERSIGN_TOOL_ENV: 'SOURCE_URL',
      SOURCE_URL: source.url,
      COUNTERSIGN_OPENAI_BASE_URL: model.url,
      COUNTERSIGN_APPROVAL_SWEEP_MS: '50',
      OPENAI_API_KEY: 'scripted',
    },
    close: () => Promise.resolve(),
  });
  return {
    system,
    effects: source.effects,
    providerRequests: () => model.requests.length,
    hold: source.hold,
    release: source.release,
    async close() {
      source.release();
      await system.close();
      await model.close();
      await source.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function workspaceOf(tools: readonly DeclaredTool[], ttlMs: number | undefined): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'approval-cases-'));
  mkdirSync(path.join(folder, 'tools'));
  mkdirSync(path.join(folder, 'agents'));
  for (const { name, layer, input, approval, approvalTtlMs } of tools) {
    const life = ttlMs ?? approvalTtlMs;
    const contract = {
      namespace: 'cases',
      name,
      version: '1.0.0',
      layer,
      title: `The tool ${name}`,
      description: `Does ${name} in the source.`,
      whenToUse: 'In its case.',
      whenNotToUse: 'Anywhere else.',
      input,
      output: { type: 'object' },
      sideEffects: layer === 'read' ? 'none' : 'reversible',
      ...(layer === 'read' ? {} : { noUndoReason: 'the source counts only', idempotency: { mode: 'none' } }),
      concurrency: layer === 'read' ? 'parallel' : 'exclusive',
      errors: [{ when: 500, code: 'TOOL_ERROR', meaning: 'The source failed.' }],
      approval: { mode: approval, ...(life ? { ttlMs: life } : {}) },
      execution: {
        kind: 'http',
        method: layer === 'read' ? 'GET' : 'POST',
        url: layer === 'read' ? `\${SOURCE_URL}/${name}/{id}` : `\${SOURCE_URL}/${name}`,
      },
    };
    writeFileSync(path.join(folder, 'tools', `${name.replaceAll('_', '-')}.yaml`), JSON.stringify(contract));
  }
  const agent = { name: 'cases', model: 'scripted', instructions: 'Play the plan.' };
  const toolset = tools.map(({ name }) => `cases.${name}`);
  writeFileSync(path.join(folder, 'agents', 'cases.yaml'), JSON.stringify({ ...agent, toolset }));
  return folder;
}

async function startSource(names: readonly string[]) {
  const effects = Object.fromEntries(names.map((name): [string, Record<string, unknown>[]] => [name, []]));
  let gate = Promise.resolve();
  let open = (): void => undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, name = '', id] = (request.url ?? '').split('/');
      const body = Buffer.concat(chunks).toString();
      effects[name]?.push(body ? (JSON.parse(body) as Record<string, unknown>) : { id });
      void gate.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    hold: () => {
      gate = new Promise((resolve) => (open = resolve));
    },
    release: () => open(),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
