import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { Reads } from '#runtime';
import { AUDIT_READERS } from '../domain/caller.ts';
import { noQuerySchema } from '../domain/queries.schema.ts';
import { parseShape } from '../domain/requests.schema.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './http-request.ts';
import { ACCESS, READS } from './tokens.ts';

/** The limits of the caller's tenant, as the orchestrators count them. */
@Controller('v1/usage')
export class UsageController {
  readonly #access: Access;
  readonly #reads: Reads;

  constructor(@Inject(ACCESS) access: Access, @Inject(READS) reads: Reads) {
    this.#access = access;
    this.#reads = reads;
  }

  @Get()
  usage(@Req() request: HttpRequest): Promise<object> {
    const { tenant } = this.#access.require(request, ...AUDIT_READERS);
    parseShape(noQuerySchema, request.query, 'The query has the wrong shape');
    return this.#reads.read<object>('orchestrator', 'usage', { tenant });
  }
}
