import path from 'node:path';
import { installationSuite } from './installation.suite.ts';
import { openStackSystem } from './open-stack.ts';

const root = path.join(import.meta.dirname, '../..');
const built = path.join(root, 'dist/examples');
const twice = (name: string): string[] => ['--enable-source-maps', path.join(root, 'test/e2e/twice-main.mjs'), name];

describe('stack: seven processes on real Kafka, Redis and PostgreSQL', () => {
  installationSuite((world) => openStackSystem(world), built);
});

describe('stack, every message delivered twice and out of step', () => {
  installationSuite((world) => openStackSystem(world, twice), built);
});
