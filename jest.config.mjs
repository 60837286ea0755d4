/** One configuration, two selections: `npm test` (no broker needed) and `npm run test:stack` (real Kafka, Redis, Postgres). */
const stack = process.env.TEST_SELECTION === 'stack';

export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  testEnvironmentOptions: { customExportConditions: ['development', 'node', 'node-addons'] },
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test', '<rootDir>/examples', '<rootDir>/tools'],
  testMatch: stack ? ['**/*.stack.spec.ts'] : ['**/*.spec.ts'],
  testPathIgnorePatterns: stack ? ['/node_modules/'] : ['/node_modules/', '\\.stack\\.spec\\.ts$'],
  globalSetup: '<rootDir>/test/setup/global-setup.ts',
  globalTeardown: '<rootDir>/test/setup/global-teardown.ts',
  maxWorkers: 2,
  testTimeout: 60_000,
  // A worker that has nothing open any more takes half a second to give back its memory: that is no leak.
  workerGracefulExitTimeout: 5_000,
};
