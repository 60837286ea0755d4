import { z } from 'zod';
import type { ApiRoute } from '../http/api-route.ts';
import { API } from '../http/api.table.ts';
import { buildOpenApi, type OpenApiDocument } from './build-open-api.ts';

const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
type Operation = Record<string, unknown> & {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: unknown }[];
  responses: Record<string, { $ref?: string; description?: string }>;
};

const refsOf = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) =>
        name === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner),
      );

const resolve = (document: OpenApiDocument, ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);

const operationsOf = (document: OpenApiDocument): { method: string; path: string; operation: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation: operation as Operation })),
  );

const route = (change: Partial<ApiRoute> = {}): ApiRoute => ({
  method: 'GET',
  path: '/things/{id}',
  operationId: 'getThing',
  tag: 'service',
  summary: 'A thing.',
  roles: 'any',
  params: z.object({ id: z.string() }),
  responses: { 200: { description: 'The thing.', schema: z.object({ name: z.string() }) } },
  ...change,
});

describe('the OpenAPI document', () => {
  const document = buildOpenApi(API, '1.2.3');

  it('holds every route of the table and nothing else, each under its own operationId', () => {
    const told = operationsOf(document).map(
      ({ method, path, operation }) => `${method} ${path} ${operation.operationId}`,
    );
    expect(told.sort()).toEqual(
      API.map(({ method, path, operationId }) => `${method.toLowerCase()} ${path} ${operationId}`).sort(),
    );
    expect(new Set(API.map(({ operationId }) => operationId)).size).toBe(API.length);
  });

  it('refers only to what it holds', () => {
    const refs = [...new Set(refsOf(document))];
    expect(refs.length).toBeGreaterThan(20);
    expect(refs.filter((ref) => !ref.startsWith('#/components/') || resolve(document, ref) === undefined)).toEqual([]);
  });

  it('has no schema and no response that nothing refers to', () => {
    const refs = new Set(refsOf(document));
    const held = ['schemas', 'responses'].flatMap((kind) =>
      Object.keys(document.components[kind]!).map((name) => `#/components/${kind}/${name}`),
    );
    expect(held.filter((ref) => !refs.has(ref))).toEqual([]);
  });

  it('has the shape of OpenAPI 3.1: verbs, statuses, descriptions, one declaration for each parameter', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Countersign', version: '1.2.3' } });
    for (const { method, path, operation } of operationsOf(document)) {
      expect(VERBS).toContain(method);
      const parameters = operation.parameters ?? [];
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(parameters.filter((p) => p.in === 'path').map((p) => [p.name, p.required])).toEqual(
        [...path.matchAll(/\{([^}]+)\}/g)].map((match) => [match[1], true]),
      );
      expect(parameters.filter(({ in: place }) => !['path', 'query', 'header'].includes(place))).toEqual([]);
      const statuses = Object.keys(operation.responses);
      expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(response.$ref ?? response.description).toBeTruthy();
      }
    }
  });

  it('tells what a caller needs: a credential unless the route is public, and the roles', () => {
    const told = operationsOf(document);
    for (const { operationId, roles } of API) {
      const { operation } = told.find((candidate) => candidate.operation.operationId === operationId)!;
      expect(operation.security).toEqual(roles === 'public' ? [] : undefined);
      for (const role of typeof roles === 'string' ? [] : roles) expect(operation.description).toContain(role);
    }
    expect(document.security).toEqual([{ bearer: [] }]);
  });

  it('is the same each time, and plain JSON', () => {
    const text = JSON.stringify(buildOpenApi(API, '1.2.3'));
    expect(text).toBe(JSON.stringify(document));
    expect(JSON.parse(text)).toEqual(document);
  });

  it('a default makes a query field optional; what is required stays so', () => {
    const query = z.strictObject({ limit: z.int().default(5), from: z.string() });
    const told = buildOpenApi([route({ query })], '1').paths['/things/{id}']!.get as Operation;
    expect(told.parameters!.map(({ name, required }) => [name, required])).toEqual([
      ['id', true],
      ['limit', false],
      ['from', true],
    ]);
  });

  it.each([
    ['an address and method', route({ operationId: 'other' })],
    ['an operationId', route({ path: '/others/{id}' })],
  ])('%s that stands twice is refused, with its place', (_what, second) => {
    expect(() => buildOpenApi([route(), second], '1')).toThrow(
      `GET ${second.path} (${second.operationId}) stands twice`,
    );
  });
});
