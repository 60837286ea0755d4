/**
 * Who may import whom (docs: CONTRIBUTING.md). `npm run lint` fails on a breach; the comment says the reason.
 */
const SPEC = '\\.(spec|suite)\\.ts$|/testing/';
const DRIVERS = {
  pg: '^(libs/persistence|libs/locks|libs/runtime/src/embedded)/',
  kafkajs: '^libs/bus/',
  ioredis: '^libs/locks/',
  openai: '^libs/providers/',
};

const only = (name, home) => ({
  name: `${name}-in-its-library`,
  comment: `The driver ${name} is used in its library only; others use that library's port.`,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: `${home}|${SPEC}` },
  to: { path: `^node_modules/(@types/)?${name}/` },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'One direction: entry on top, details below. Types may refer to each other.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'domain-is-pure',
      comment:
        'Decisions take values and return values: a domain imports its own folder, kernel and contracts (and zod, which is pure).',
      severity: 'error',
      from: { path: '^(apps/[^/]+)/src/domain/', pathNot: SPEC },
      to: {
        pathNot: '^$1/src/domain/|^libs/(kernel|contracts)/src/|^node_modules/zod/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'kernel-imports-nothing',
      comment: 'The kernel is below everything.',
      severity: 'error',
      from: { path: '^libs/kernel/src/', pathNot: SPEC },
      to: { path: '^(apps|libs/(?!kernel/))' },
    },
    {
      name: 'contracts-import-kernel-only',
      severity: 'error',
      from: { path: '^libs/contracts/src/', pathNot: SPEC },
      to: { path: '^(apps|libs/(?!kernel/|contracts/))' },
    },
    {
      name: 'libraries-never-import-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'libraries-by-their-index',
      comment: 'Another library is imported by its name (#bus), not by a path into it.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/', pathNot: SPEC },
      to: { path: '^libs/[^/]+/', pathNot: '^libs/$1/|^libs/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'libraries-by-their-index-in-apps',
      severity: 'error',
      from: { path: '^apps/', pathNot: SPEC },
      to: { path: '^libs/[^/]+/', pathNot: '^libs/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'apps-never-import-apps',
      comment: 'Services talk by messages and read ports. all-in-one and cli put doors together.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/(all-in-one|cli)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'only-doors-are-shown',
      comment: 'Of a service, all-in-one and cli see `<service>.module.ts` alone; cli also sees all-in-one.',
      severity: 'error',
      from: { path: '^apps/(all-in-one|cli)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/|^apps/all-in-one/|^apps/([^/]+)/src/[^/]+\\.module\\.ts$' },
    },
    {
      name: 'only-doors-are-shown-to-the-bench',
      comment:
        'As for cli. The one exception, of the bench alone: its controller drives the intake of the gateway without the HTTP API.',
      severity: 'error',
      from: { path: '^bench/', pathNot: '^bench/services/bench\\.controller\\.ts$' },
      to: { path: '^apps/', pathNot: '^apps/(all-in-one|cli)/|^apps/([^/]+)/src/[^/]+\\.module\\.ts$' },
    },
    {
      name: 'bench-controller-sees-the-gateway',
      comment: 'The exception above goes no further than the intake and the HTTP types of the gateway.',
      severity: 'error',
      from: { path: '^bench/services/bench\\.controller\\.ts$' },
      to: {
        path: '^apps/',
        pathNot: '^apps/gateway/src/(gateway-intake|domain/caller|http/(http-request|read-body|tokens))\\.ts$',
      },
    },
    {
      name: 'libraries-by-their-index-in-the-bench',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^libs/[^/]+/', pathNot: '^libs/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'product-never-imports-the-bench',
      severity: 'error',
      from: { path: '^(apps|libs)/' },
      to: { path: '^bench/' },
    },
    {
      name: 'nest-at-the-door',
      comment: 'Nest in doors, controllers, guards, pipes, filters and the runtime; not in the work itself.',
      severity: 'error',
      from: {
        path: '^(apps|libs)/',
        pathNot: `\\.(module|controller|guard|pipe|filter|interceptor|lifecycle)\\.ts$|^libs/runtime/|${SPEC}`,
      },
      to: { path: '^node_modules/@nestjs/', dependencyTypesNot: ['type-only'] },
    },
    ...Object.entries(DRIVERS).map(([name, home]) => only(name, home)),
    {
      name: 'no-dev-dependencies-at-run-time',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: SPEC },
      to: { dependencyTypes: ['npm-dev'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'not-found',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports it and it imports nothing: is it dead?',
      severity: 'warn',
      from: { orphan: true, pathNot: '\\.d\\.ts$|/main\\.ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['development', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs'],
    },
    cache: false,
  },
};
