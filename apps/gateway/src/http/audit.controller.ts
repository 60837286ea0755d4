import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { Reads } from '#runtime';
import { AUDIT_READERS } from '../domain/caller.ts';
import { notFound } from '../domain/problem.ts';
import { checkpointsQuerySchema, noQuerySchema, proofQuerySchema } from '../domain/queries.schema.ts';
import { parseShape } from '../domain/requests.schema.ts';
import { asPage, type View } from '../domain/views.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './http-request.ts';
import { ACCESS, READS } from './tokens.ts';

/** What an auditor needs beside the records: signed heads, the keys that may sign them, proofs, schemas. */
@Controller('v1/audit')
export class AuditController {
  readonly #access: Access;
  readonly #reads: Reads;

  constructor(@Inject(ACCESS) access: Access, @Inject(READS) reads: Reads) {
    this.#access = access;
    this.#reads = reads;
  }

  @Get('checkpoints')
  async checkpoints(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...AUDIT_READERS);
    const query = parseShape(checkpointsQuerySchema, request.query, 'The query has the wrong shape');
    const answer = await this.#reads.read<unknown>('telemetry', 'checkpoints', { ...query, tenant: caller.tenant });
    return asPage(answer, (checkpoint: View) => checkpoint);
  }

  @Get('proof')
  async proof(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...AUDIT_READERS);
    const query = parseShape(proofQuerySchema, request.query, 'The query has the wrong shape');
    const proof = await this.#reads.read<object | null>('telemetry', 'proof', { ...query, tenant: caller.tenant });
    if (!proof) throw notFound('published audit record');
    return proof;
  }

  @Get('schemas')
  async schemas(@Req() request: HttpRequest): Promise<object> {
    this.#access.require(request, ...AUDIT_READERS);
    parseShape(noQuerySchema, request.query, 'The query has the wrong shape');
    return this.#reads.read<object>('telemetry', 'schemas', {});
  }

  @Get('keys')
  async keys(@Req() request: HttpRequest): Promise<object> {
    this.#access.require(request, ...AUDIT_READERS);
    parseShape(noQuerySchema, request.query, 'The query has the wrong shape');
    const { keys } = await this.#reads.read<{ keys: unknown[] }>('telemetry', 'keys', {});
    return { keys };
  }
}
