import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { Reads } from '#runtime';
import { AUDIT_READERS } from '../domain/caller.ts';
import { auditQuerySchema } from '../domain/queries.schema.ts';
import { parseShape } from '../domain/requests.schema.ts';
import { asPage, type View } from '../domain/views.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './http-request.ts';
import { ACCESS, READS, VERSION } from './tokens.ts';

/** What operators and auditors look at. */
@Controller()
export class OperationsController {
  readonly #access: Access;
  readonly #reads: Reads;
  readonly #version: string;

  constructor(@Inject(ACCESS) access: Access, @Inject(READS) reads: Reads, @Inject(VERSION) version: string) {
    this.#access = access;
    this.#reads = reads;
    this.#version = version;
  }

  @Get('v1/audit')
  async audit(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...AUDIT_READERS);
    const query = parseShape(auditQuerySchema, request.query, 'The query has the wrong shape');
    const answer = await this.#reads.read<unknown>('telemetry', 'audit', { ...query, tenant: caller.tenant });
    return asPage(answer, (record: View) => record);
  }

  @Get('version')
  version(): object {
    return { name: 'countersign', version: this.#version, api: 'v1' };
  }
}
