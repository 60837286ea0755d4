import { existsSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { projectFiles, ROOT } from './project-files.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const TEXT =
  /(^|\/)(\.[\w.-]+|run|Dockerfile|LICENSE)$|\.(ts|mjs|js|json|jsonl|md|sql|ya?ml|cedar|lua|xml|html|css|sh|svg|txt)$/;

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly resolved?: string; readonly link?: boolean; readonly integrity?: string }>
  >;
}

describe('the repository', () => {
  it('its lock file records digests and no addresses, so that any registry may serve it', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as Lock;
    const entries = Object.entries(packages).filter(([name]) => name !== '');
    expect(entries.length).toBeGreaterThan(100);
    expect(entries.filter(([, entry]) => /^https?:/.test(entry.resolved ?? '')).map(([name]) => name)).toEqual([]);
    expect(entries.filter(([, entry]) => !entry.integrity && !entry.link).map(([name]) => name)).toEqual([]);
  });

  it('names each dependency in one exact version', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string> | undefined>;
    const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((group) =>
      Object.entries(manifest[group] ?? {}),
    );
    expect(versions.length).toBeGreaterThan(10);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('tells the Nest builder of every service, where its code and its SQL are', () => {
    const { projects } = JSON.parse(read('nest-cli.json')) as {
      projects: Record<string, { sourceRoot: string; compilerOptions: { assets: { include: string }[] } }>;
    };
    const services = readdirSync(path.join(ROOT, 'apps')).filter((name) =>
      existsSync(path.join(ROOT, 'apps', name, 'src/main.ts')),
    );
    expect(Object.keys(projects).sort()).toEqual(services.filter((name) => name !== 'cli').sort());
    for (const [name, { sourceRoot, compilerOptions }] of Object.entries(projects)) {
      expect(sourceRoot).toBe(`apps/${name}/src`);
      expect(compilerOptions.assets.map(({ include }) => include)).toEqual([
        '**/*.{sql,cedar}',
        '../../../libs/*/migrations/*.sql',
      ]);
    }
  });

  it('names no path of one machine and no package registry', () => {
    const machine = ['work', 'root'].map((name) => new RegExp(`(?<![\\w.~-])/${name}/`));
    const here = [ROOT, os.homedir()].filter((folder) => folder.length > 1).map((folder) => `${folder}/`);
    const hosts = ['npmjs', 'yarnpkg']
      .map((name) => `registry.${name}.`)
      .concat(['maven.org', 'maven.apache.org', 'debian.org', 'pypi.org'].map((name) => `.${name}/`));
    const configured = process.env.npm_config_registry;
    if (configured) hosts.push(new URL(configured).host);
    const faults = projectFiles()
      .filter(
        (file) => TEXT.test(file) && file !== 'package-lock.json' && file !== 'test/architecture/repository.spec.ts',
      )
      .flatMap((file) => {
        const text = read(file);
        const found = [
          ...machine.filter((pattern) => pattern.test(text)).map(String),
          ...[...here, ...hosts].filter((part) => text.includes(part)),
        ];
        return found.map((part) => `${file}: ${part}`);
      });
    expect(faults).toEqual([]);
  });
});
