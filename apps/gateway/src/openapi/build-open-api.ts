import type { z } from 'zod';
import * as requests from '../domain/requests.schema.ts';
import * as responses from '../domain/responses.schema.ts';
import type { ApiHeader, ApiResponse, ApiRoute } from '../http/api-route.ts';
import { SchemaShelf, type JsonSchema } from './schema-shelf.ts';

const PROBLEM = 'application/problem+json';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly [member: string]: unknown;
}

/**
 * The OpenAPI 3.1 document of the routes: pure, the same for the same routes and version.
 * @throws TypeError when two routes share an address and method, or an operationId
 */
export function buildOpenApi(routes: readonly ApiRoute[], version: string): OpenApiDocument {
  const shelf = new SchemaShelf({ ...requests, ...responses });
  const problems = new Map<string, JsonSchema>();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const ids = new Set<string>();
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    const method = route.method.toLowerCase();
    if (path[method] || ids.has(route.operationId))
      throw new TypeError(`${route.method} ${route.path} (${route.operationId}) stands twice in the table of routes`);
    ids.add(route.operationId);
    path[method] = operation(route, shelf, problems);
  }
  const sorted = [...problems].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      description:
        'Governed tool calls: a model proposes; Countersign validates, authorizes, asks, executes once, records, and answers. ' +
        'Objects of answers may gain fields. Every error is a problem document (RFC 9457) whose `code` says what it is.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key; in development mode `dev.<tenant>.<name>.<roles>`.',
        },
      },
      responses: Object.fromEntries(sorted),
      schemas: shelf.all(),
    },
  } as OpenApiDocument;
}

function operation(route: ApiRoute, shelf: SchemaShelf, problems: Map<string, JsonSchema>): JsonSchema {
  const parameters = [
    ...fields(route.params, 'path', shelf),
    ...fields(route.query, 'query', shelf),
    ...(route.requestHeaders ?? []).map(({ name, description, schema }) => ({
      name,
      in: 'header',
      description,
      schema: shelf.schema(schema, 'input'),
    })),
  ];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(typeof route.roles === 'string' ? {} : { description: `Needs one of the roles ${route.roles.join(', ')}.` }),
    ...(route.roles === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.body.required,
            content: { 'application/json': { schema: shelf.schema(route.body.schema, 'input') } },
          },
        }),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, answer]) => [status, response(status, answer, shelf, problems)]),
    ),
  };
}

function fields(shape: z.ZodObject | undefined, place: 'path' | 'query', shelf: SchemaShelf): JsonSchema[] {
  return Object.entries(shape?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = shelf.schema(field as z.ZodType, 'input');
    const required = place === 'path' || !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: place, ...(description === undefined ? {} : { description }), required, schema };
  });
}

/** A problem that several routes answer alike is written once. */
function response(
  status: string,
  answer: ApiResponse,
  shelf: SchemaShelf,
  problems: Map<string, JsonSchema>,
): JsonSchema {
  const made = written(answer, shelf);
  if (answer.contentType !== PROBLEM) return made;
  const name = `Problem${status}`;
  const known = problems.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(made)) return made;
  problems.set(name, made);
  return { $ref: `#/components/responses/${name}` };
}

function written({ description, schema, contentType, headers }: ApiResponse, shelf: SchemaShelf): JsonSchema {
  return {
    description,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(headers.map((header) => named(header, shelf))) }),
    ...(schema === undefined
      ? {}
      : { content: { [contentType ?? 'application/json']: { schema: shelf.schema(schema, 'output') } } }),
  };
}

const named = ({ name, description, schema }: ApiHeader, shelf: SchemaShelf): [string, JsonSchema] => [
  name,
  { description, schema: shelf.schema(schema, 'output') },
];
