import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ToolContractInput } from '#contracts';
import { startScriptedServer } from '#providers';
import { openEmbedded } from '../e2e/open-embedded.ts';
import { playPlan } from '../e2e/plan.script.ts';
import type { System } from '../e2e/system.ts';

export interface Edit {
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/** Files that an edit reads, and writes a moment later: two at once lose one of them. */
export class EditedFiles {
  readonly files: Record<string, string>;
  readonly executed: Edit[] = [];
  /** Pairs of edits that were in work at the same time. */
  readonly overlaps: (readonly [Edit, Edit])[] = [];
  readonly #inWork = new Set<Edit>();

  constructor(files: Readonly<Record<string, string>>) {
    this.files = { ...files };
  }

  async edit(edit: Edit): Promise<void> {
    const name = path.posix.normalize(edit.path);
    for (const other of this.#inWork) this.overlaps.push([other, edit]);
    this.#inWork.add(edit);
    const text = this.files[name]!;
    await pause(50);
    this.files[name] = text.replace(edit.old, edit.new);
    this.executed.push(edit);
    this.#inWork.delete(edit);
  }
}

export const editContract = (
  input: Record<string, unknown>,
  resources: string[],
  execution: ToolContractInput['execution'],
) => ({
  namespace: 'cases',
  name: 'edit_file',
  version: '1.0.0',
  layer: 'write' as const,
  title: 'Edit a file',
  description: 'Replaces a text of a file by another.',
  whenToUse: 'To change a file.',
  whenNotToUse: 'To read one.',
  input,
  output: { type: 'object' },
  sideEffects: 'reversible' as const,
  noUndoReason: 'another edit takes it back',
  idempotency: { mode: 'none' as const },
  concurrency: 'per_resource' as const,
  resources,
  resourceForms: { path: 'path' as const },
  approval: { mode: 'never' as const },
  errors: [{ when: 500, code: 'TOOL_ERROR' as const, meaning: 'The source failed.' }],
  execution,
});

export interface FileWorld {
  readonly system: System;
  /** What edits work on from now on. */
  use(files: EditedFiles): void;
  close(): Promise<void>;
}

/** A whole installation with one tool, whose source edits files. */
export async function openFileWorld(input: Record<string, unknown>, resources: string[]): Promise<FileWorld> {
  let files = new EditedFiles({});
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void files
        .edit(JSON.parse(Buffer.concat(chunks).toString()) as Edit)
        .then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'file-cases-'));
  for (const name of ['tools', 'agents']) mkdirSync(path.join(folder, name));
  const execution = { kind: 'http', method: 'POST', url: '${SOURCE_URL}/edit' } as const;
  writeFileSync(path.join(folder, 'tools', 'edit.yaml'), JSON.stringify(editContract(input, resources, execution)));
  const agent = { name: 'cases', model: 'scripted', instructions: 'Play the plan.', toolset: ['cases.edit_file'] };
  writeFileSync(path.join(folder, 'agents', 'cases.yaml'), JSON.stringify(agent));
  const model = await startScriptedServer({ script: playPlan });
  const system = await openEmbedded({
    sink: { url } as never,
    incidentsUrl: url,
    env: {
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_WORKSPACES: folder,
      COUNTERSIGN_TOOL_ENV: 'SOURCE_URL',
      SOURCE_URL: url,
      COUNTERSIGN_OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
    },
    close: () => Promise.resolve(),
  });
  return {
    system,
    use: (next) => void (files = next),
    async close() {
      await system.close();
      await model.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
