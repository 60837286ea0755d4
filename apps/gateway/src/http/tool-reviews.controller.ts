import { Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { JsonLimits } from '#kernel';
import type { ToolPublisher } from '../adapters/tool-publisher.ts';
import { PUBLISHERS } from '../domain/caller.ts';
import { reviewSchema } from '../domain/requests.schema.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './http-request.ts';
import { readBody } from './read-body.ts';
import { refuseQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, PUBLISHER } from './tokens.ts';

/** Versions that wait for a second publisher. */
@Controller('v1/tool-reviews')
export class ToolReviewsController {
  readonly #access: Access;
  readonly #publisher: ToolPublisher;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(PUBLISHER) publisher: ToolPublisher,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#publisher = publisher;
    this.#limits = limits;
  }

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...PUBLISHERS);
    refuseQuery(request);
    return { items: await this.#publisher.reviews(caller), next: null };
  }

  @Post(':name')
  @HttpCode(200)
  async decide(@Req() request: HttpRequest, @Param('name') name: string): Promise<object> {
    const caller = this.#access.require(request, ...PUBLISHERS);
    const { value } = readBody(request, reviewSchema, this.#limits);
    const { decision, digest, reason = null } = value;
    const { tool, version } = await this.#publisher.review(caller, name, { decision, digest, reason });
    return { tool, version, digest, state: decision === 'approve' ? 'published' : 'rejected' };
  }
}
