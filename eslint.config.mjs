import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const SPECS = ['**/*.spec.ts', '**/*.suite.ts', '**/testing/**', 'test/**'];
/** The places that may read the environment (design rule: settings are resolved once, in one place of a service). */
const READS_ENVIRONMENT = ['**/*.config.ts', '**/*.config.mjs', 'libs/runtime/**', 'tools/**', 'bench/**', ...SPECS];

const TEST_FUNCTIONS = '/^(describe|it|test)$/';
const FOCUSED = [
  { selector: `MemberExpression[object.name=${TEST_FUNCTIONS}][property.name="only"]`, message: 'No focused tests.' },
  { selector: 'CallExpression[callee.name=/^(fit|fdescribe)$/]', message: 'No focused tests.' },
];
const SKIPPED = {
  selector: `MemberExpression[object.name=${TEST_FUNCTIONS}][property.name=/^(skip|todo)$/]`,
  message: 'No skipped tests.',
};
const JEST_MOCK = {
  selector: 'MemberExpression[object.name="jest"][property.name="mock"]',
  message: 'jest.mock does nothing under ESM: inject a fake.',
};

export default defineConfig(
  globalIgnores(['dist/', 'node_modules/', 'coverage/', '.countersign/', 'docs/generated/', '**/*.generated.ts']),
  eslint.configs.recommended,
  tseslint.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read settings in a *.config.ts and pass them on.' },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    },
  },
  {
    // what a service says goes through its log
    files: ['apps/**', 'libs/**'],
    ignores: ['apps/cli/**', 'apps/all-in-one/**', 'libs/runtime/**', ...SPECS],
    rules: { 'no-console': 'error' },
  },
  { files: READS_ENVIRONMENT, rules: { 'no-restricted-properties': 'off' } },
  { files: SPECS, rules: { 'max-lines': 'off', 'no-restricted-syntax': ['error', ...FOCUSED, JEST_MOCK, SKIPPED] } },
  // a conformance suite skips what an adapter's features record says does not apply
  { files: ['**/testing/**'], rules: { 'no-restricted-syntax': ['error', ...FOCUSED, JEST_MOCK] } },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setTimeout: 'readonly' } },
  },
  prettier,
);
