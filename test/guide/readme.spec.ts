import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { toolContractSchema, type ToolContract } from '#contracts';
import { startScriptedServer, say, type ScriptedServer } from '#providers';
import { checkPublishable } from '#registry';
import { runCli } from '../../apps/cli/testing/run-cli.ts';
import { openEmbedded } from '../e2e/open-embedded.ts';
import type { System } from '../e2e/system.ts';
import { startWorld, type World } from '../e2e/world.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, text]) => (of === language ? [text!] : []));
const lines = blocks('sh')
  .flatMap((text) => text.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim());

/** The words of a command as a shell splits them, as far as the README needs it. */
const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);

describe('the README, as it stands', () => {
  let world: World;
  let system: System;
  let model: ScriptedServer;
  beforeAll(async () => {
    world = await startWorld();
    model = await startScriptedServer({ script: () => [say('Checkout fails since the last release.')] });
    system = await openEmbedded({ ...world, env: { ...world.env, COUNTERSIGN_OPENAI_BASE_URL: model.url } });
  });
  afterAll(async () => {
    await system.close();
    await model.close();
    await world.close();
  });

  it('names scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const named = lines.flatMap((line) =>
      [...line.matchAll(/npm (?:run )?(?:-s )?([a-z][a-z:]*)/g)].map(([, name]) => name!),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => name !== 'ci' && !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('the path of five minutes: each command does what it says, against a running installation', async () => {
    const exported = lines.find((line) => line.startsWith('export '))!;
    const env: Record<string, string> = Object.fromEntries(
      words(exported)
        .slice(1)
        .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    );
    expect(env.COUNTERSIGN_URL).toBe('http://127.0.0.1:8080');
    const commands = lines.filter((line) => /^countersign (?!dev )/.test(line));
    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) {
      const answer = await runCli(words(command).slice(1), { ...env, COUNTERSIGN_URL: system.gateway });
      expect([command, answer.code, answer.stderr]).toEqual([command, 0, expect.not.stringContaining('error')]);
      if (command.includes('--watch')) expect(answer.stdout).toContain('Checkout fails since the last release.');
      if (command.includes('tools list')) expect(answer.stdout).toContain('incident');
    }
  }, 120_000);

  it('its tool is one that may be published', async () => {
    const [snippet] = blocks('ts');
    const file = path.join(ROOT, 'test/guide', `readme-${process.pid}.ts`);
    writeFileSync(file, snippet!);
    try {
      const { createNote } = (await import(file)) as { createNote: { contract: ToolContract } };
      checkPublishable(toolContractSchema.parse(createNote.contract));
    } finally {
      rmSync(file);
    }
  });
});
