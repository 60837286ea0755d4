import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, startEmbeddedPostgres } from '../../libs/runtime/src/embedded/embedded-postgres.ts';
import { projectFile } from '../stack/project.ts';
import { findSchemathesis } from './schemathesis.ts';

/**
 * Fuzzes the HTTP API by its own OpenAPI document: a fresh installation, every role, requests that fit the document and
 * requests that do not. It fails on a 5xx, on a status, header or body that the document does not name, and on nonsense that
 * is accepted. Arguments are handed on to schemathesis.
 */
const say = (line: string): void => void process.stderr.write(`fuzz: ${line}\n`);
const CREDENTIAL = 'Bearer dev.dev.fuzz.agent+approver+operator+auditor+tool-publisher+tenant-admin';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];
const READY_MS = 60_000;

const program = findSchemathesis(say);
// Below /var/tmp: a place where the database's user can walk to.
const folder = mkdtempSync(path.join('/var/tmp', 'countersign-fuzz-'));
chmodSync(folder, 0o755);
const postgres = await startEmbeddedPostgres({ directory: path.join(folder, 'postgres') });
let services: ChildProcess | undefined;
try {
  const port = await freePort();
  services = spawn(process.execPath, [projectFile('dist/apps/all-in-one/src/main.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_LOG_LEVEL: 'error',
      COUNTERSIGN_DATABASE_URL: postgres.url('postgres'),
      COUNTERSIGN_HTTP_PORT: String(port),
      COUNTERSIGN_WORKSPACES: projectFile('dist/examples/incident-triage'),
      OPENAI_API_KEY: 'none',
      COUNTERSIGN_OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await ready(url, services);
  const args = ['run', `${url}/openapi.json`, '--header', `Authorization: ${CREDENTIAL}`, '--checks', CHECKS.join(',')];
  const limits = ['--exclude-operation-id', 'watchRun', '--request-timeout', '30', '--no-color', '--warnings', 'off'];
  process.exitCode = await ended(
    spawn(program, [...args, ...limits, ...process.argv.slice(2)], {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: folder,
    }),
  );
} finally {
  if (services && services.exitCode === null) {
    services.kill('SIGTERM');
    await ended(services);
  }
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function ready(url: string, process: ChildProcess): Promise<void> {
  for (const until = Date.now() + READY_MS; ; await delay(50)) {
    if (process.exitCode !== null) throw new Error('the services ended at their start');
    if ((await fetch(`${url}/readyz`).catch(() => null))?.ok) return;
    if (Date.now() > until) throw new Error(`the services were not ready within ${READY_MS} ms`);
  }
}

function ended(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
