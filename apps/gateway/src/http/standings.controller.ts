import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { STANDING_ID_PATTERN, type JsonLimits } from '#kernel';
import type { StandingDesk } from '../adapters/standing-desk.ts';
import { APPROVAL_READERS } from '../domain/caller.ts';
import { standingsQuerySchema } from '../domain/queries.schema.ts';
import { emptySchema, standingRequestSchema } from '../domain/requests.schema.ts';
import { publicView } from '../domain/views.ts';
import type { Access } from './access.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody, readOptionalBody } from './read-body.ts';
import { readPageQuery, refuseQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, STANDING_DESK } from './tokens.ts';

/** What people allow in advance, within bounds. */
@Controller('v1/standing-grants')
export class StandingsController {
  readonly #access: Access;
  readonly #desk: StandingDesk;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(STANDING_DESK) desk: StandingDesk,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#desk = desk;
    this.#limits = limits;
  }

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const { tenant } = this.#access.require(request, ...APPROVAL_READERS);
    const { limit, after, show } = readPageQuery(request, 'standings', standingsQuerySchema, STANDING_ID_PATTERN);
    return show(await this.#desk.list(tenant, { limit, after }), publicView);
  }

  @Get(':id')
  async show(@Req() request: HttpRequest, @Param('id') standingId: string): Promise<object> {
    const { tenant } = this.#access.require(request, ...APPROVAL_READERS);
    refuseQuery(request);
    return publicView(await this.#desk.show(tenant, standingId));
  }

  @Post()
  @HttpCode(201)
  async grant(@Req() request: HttpRequest, @Res({ passthrough: true }) reply: HttpReply): Promise<object> {
    const caller = this.#access.identify(request);
    const { value, document } = readBody(request, standingRequestSchema, this.#limits);
    return publicView(await this.#desk.grant(caller, value, intakeOptions(request, reply, document)));
  }

  @Post(':id/revoke')
  @HttpCode(200)
  async revoke(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') standingId: string,
  ): Promise<object> {
    const caller = this.#access.identify(request);
    const { document } = readOptionalBody(request, emptySchema, this.#limits);
    return publicView(await this.#desk.revoke(caller, standingId, intakeOptions(request, reply, document)));
  }
}
