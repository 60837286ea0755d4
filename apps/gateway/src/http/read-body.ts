import { digestJson, parseJson, type Json, type JsonLimits } from '#kernel';
import type { z } from 'zod';
import { idempotencyKey, traceparent, waitMs } from '../domain/request-headers.ts';
import { parseShape } from '../domain/requests.schema.ts';
import type { IntakeOptions } from '../gateway-intake.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';

export interface ParsedBody<S extends z.ZodType> {
  readonly value: z.infer<S>;
  /** The document as it was sent. */
  readonly document: Json;
}

/**
 * Strict JSON, then the shape.
 * @param schema or a function that chooses one by the document
 * @throws CountersignError INVALID_JSON, INVALID_ARGS with pointers
 */
export function readBody<S extends z.ZodType>(
  request: HttpRequest,
  schema: S | ((document: Json) => S),
  limits: JsonLimits,
): ParsedBody<S> {
  const document = parseJson(request.body ?? '', limits);
  const shape = typeof schema === 'function' ? schema(document) : schema;
  return { value: parseShape(shape, document, 'The body has the wrong shape'), document };
}

/** For commands whose body may be left out. */
export function readOptionalBody<S extends z.ZodType>(
  request: HttpRequest,
  schema: S,
  limits: JsonLimits,
): ParsedBody<S> {
  const empty = request.body === undefined || request.body.byteLength === 0;
  const document = empty ? {} : parseJson(request.body!, limits);
  return { value: parseShape(schema, document, 'The body has the wrong shape'), document };
}

/** What the headers ask of a command. @throws HttpProblem 400 */
export function intakeOptions(request: HttpRequest, reply: HttpReply, document: Json): IntakeOptions {
  const { headers } = request;
  const wait = waitMs(headers);
  if (wait > 0) reply.header('preference-applied', `wait=${wait / 1000}`);
  return {
    key: idempotencyKey(headers),
    waitMs: wait,
    requestDigest: digestJson('request/v1', document),
    correlationId: traceparent(headers),
    isGone: () => reply.raw.destroyed,
  };
}
