import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { CALL_ID_PATTERN, type JsonLimits } from '#kernel';
import type { UnknownDesk } from '../adapters/unknown-desk.ts';
import { AUDIT_READERS, RESOLVERS } from '../domain/caller.ts';
import { unknownsQuerySchema } from '../domain/queries.schema.ts';
import { resolveSchema } from '../domain/requests.schema.ts';
import { listedCall, publicCall } from '../domain/views.ts';
import type { Access } from './access.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody } from './read-body.ts';
import { readPageQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, UNKNOWN_DESK } from './tokens.ts';

/** Calls whose outcome nobody knows. */
@Controller('v1')
export class UnknownsController {
  readonly #access: Access;
  readonly #desk: UnknownDesk;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(UNKNOWN_DESK) desk: UnknownDesk,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#desk = desk;
    this.#limits = limits;
  }

  @Get('unknowns')
  async list(@Req() request: HttpRequest): Promise<object> {
    const { tenant } = this.#access.require(request, ...AUDIT_READERS);
    const { limit, after, show } = readPageQuery(request, 'unknowns', unknownsQuerySchema, CALL_ID_PATTERN);
    return show(await this.#desk.list(tenant, { limit, after }), listedCall);
  }

  @Post('calls/:id/resolve')
  @HttpCode(200)
  async resolve(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') callId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RESOLVERS);
    const { value, document } = readBody(request, resolveSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    return publicCall(await this.#desk.resolve(caller, callId, value, options), request.id);
  }
}
