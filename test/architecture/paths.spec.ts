import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { exists, namedPaths } from './named-paths.ts';
import { projectFiles, ROOT } from './project-files.ts';

const PAGES = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md'];

describe('the pages for people', () => {
  const files = projectFiles();
  const topFolders = readdirSync(ROOT, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() && !['dist', 'node_modules', '.git', '.countersign', 'coverage'].includes(entry.name),
    )
    .map((entry) => entry.name);

  it.each(PAGES)('%s names only files and folders that exist', (page) => {
    expect(existsSync(path.join(ROOT, page))).toBe(true);
    const named = namedPaths(readFileSync(path.join(ROOT, page), 'utf8'), topFolders);
    expect(named.filter((name) => !exists(name, files))).toEqual([]);
  });

  it('are read for paths only: commands, packages, routes and addresses are not taken for one', () => {
    const page =
      'Run `npm run demo`, see `apps/policy/src/domain/judge.ts:12`, `domain/judge.ts`, `apps/<service>/src/main.ts`, ' +
      '`package.json`, `libs/`, [errors](docs/errors.md#codes), `@nestjs/core`, `/v1/runs`, `call.granted.<pool>`, `application/json`, ' +
      '`dist/apps/x.js`, `*.stack.spec.ts`, [web](https://example.com/a.md).';
    expect(namedPaths(page, ['apps', 'libs', 'docs'])).toEqual([
      'apps/policy/src/domain/judge.ts',
      'domain/judge.ts',
      'apps/<service>/src/main.ts',
      'package.json',
      'libs/',
      'docs/errors.md',
    ]);
  });

  it.each([
    ['apps/policy/src/domain/judge.ts', true],
    ['domain/judge.ts', true],
    ['judge.ts', true],
    ['apps/<service>/src', true],
    ['apps/policy/', true],
    ['apps/*/src/domain/{judge,other}.ts', true],
    ['apps/policy/src/domain/jud…', true],
    ['udge.ts', false],
    ['apps/polic', false],
    ['apps/<service>/test', false],
    ['domain/judge.tsx', false],
  ])('%s is found: %s', (named, found) => {
    expect(exists(named, ['apps/policy/src/domain/judge.ts'])).toBe(found);
  });
});
