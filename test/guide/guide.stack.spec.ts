import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '#runtime';
import { freshDatabase, type FreshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { call, say } from '../../libs/providers/src/scripted/script.ts';
import { startScriptedServer, type ScriptedServer } from '../../libs/providers/src/scripted/scripted-server.ts';
import { missingLine, readPage } from './guide-page.ts';
import { GuideShell } from './guide-shell.ts';

const GUIDE = path.resolve(import.meta.dirname, '../../docs/guide');
/** In the order of the index: a page goes on where the one before it ended. */
const PAGES = [
  ...readFileSync(path.join(GUIDE, 'README.md'), 'utf8').matchAll(/^\| \[[^\]]+\]\(([a-z-]+\.md)\)/gm),
].map((match) => match[1]!);

describe('the guide, as it stands', () => {
  const folder = `.countersign/guide-${process.pid}`;
  const root = path.resolve(import.meta.dirname, '../..', folder);
  let database: FreshDatabase;
  let model: ScriptedServer;
  let shell: GuideShell;

  beforeAll(async () => {
    mkdirSync(root, { recursive: true });
    database = await freshDatabase();
    model = await startScriptedServer({
      script: ({ turnNo }) =>
        turnNo === 1 ? [call('notes__create_note', { title: 'loop', text: 'it works' })] : [say('The note is kept.')],
    });
    shell = new GuideShell({
      folder,
      port: await freePort(),
      env: { COUNTERSIGN_DATABASE_URL: database.url, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' },
    });
  });
  afterAll(async () => {
    await shell.close();
    await model.close();
    await database.drop();
    rmSync(root, { recursive: true, force: true });
  });

  it('lists every page', () => {
    expect([...PAGES, 'README.md'].sort()).toEqual(readdirSync(GUIDE).sort());
  });

  it.each(PAGES)('%s', async (name) => {
    await shell.newPage();
    let printed = '';
    for (const { kind, text, line, note } of readPage(path.join(GUIDE, name))) {
      if (kind === 'file') shell.save(note, text);
      if (kind === 'background') await shell.start(text);
      if (kind === 'run') printed = await shell.run(text);
      if (kind === 'output' && missingLine(text, printed) !== null)
        throw new Error(`${name}:${line}: "${missingLine(text, printed)}" did not come in:\n${printed}`);
    }
  });
});

describe('the reading of a page', () => {
  it('finds the line that did not come, in order', () => {
    expect(missingLine('a\nb', 'xa\nyb')).toBeNull();
    expect(missingLine('b\na', 'a\nb')).toBe('a');
  });
});
