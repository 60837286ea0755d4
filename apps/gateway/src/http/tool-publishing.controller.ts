import { Controller, Get, HttpCode, Inject, Param, Post, Put, Req, Res } from '@nestjs/common';
import { CountersignError, type ErrorDetail, type JsonLimits } from '#kernel';
import type { Standing } from '#registry';
import type { ToolPublisher } from '../adapters/tool-publisher.ts';
import { PUBLISHERS, TOOL_HISTORIANS, TOOL_KEEPERS } from '../domain/caller.ts';
import { diffQuerySchema, toolChangesQuerySchema } from '../domain/queries.schema.ts';
import { contractSchema, parseShape, standingSchema } from '../domain/requests.schema.ts';
import type { Access } from './access.ts';
import { answerTagged } from './entity-tag.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { readBody } from './read-body.ts';
import { readPageQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, PUBLISHER } from './tokens.ts';

/** Puts tools into use, compares them, and takes them out of it. */
@Controller('v1/tools')
export class ToolPublishingController {
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

  @Put(':namespace/:name/:version')
  async put(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param() place: Readonly<Record<'namespace' | 'name' | 'version', string>>,
  ): Promise<object> {
    const caller = this.#access.require(request, ...PUBLISHERS);
    const { value: contract } = readBody(request, contractSchema, this.#limits);
    const details = (['namespace', 'name', 'version'] as const).flatMap((part): ErrorDetail[] =>
      contract[part] === place[part]
        ? []
        : [{ path: `/${part}`, rule: 'address', message: 'is not what the address says', allowed: [place[part]] }],
    );
    if (details.length > 0)
      throw new CountersignError('INVALID_ARGS', 'The contract belongs to another address', { details });
    const onlyNew = request.headers['if-none-match'] === '*';
    const { isNew, ...published } = await this.#publisher.put(caller, contract, onlyNew);
    reply.status(published.state === 'pending_review' ? 202 : isNew ? 201 : 200);
    reply.header('etag', `"${published.digest}"`);
    return published;
  }

  @Get(':name/diff')
  async diff(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('name') name: string,
  ): Promise<unknown> {
    const caller = this.#access.identify(request);
    const { against } = parseShape(diffQuerySchema, request.query, 'The query has the wrong shape');
    return answerTagged(request.headers, reply, await this.#publisher.diff(caller, name, against));
  }

  @Get(':name/changes')
  async changes(@Req() request: HttpRequest, @Param('name') name: string): Promise<object> {
    const caller = this.#access.require(request, ...TOOL_HISTORIANS);
    const list = `tool-changes ${name}`;
    const { limit, after, show } = readPageQuery(request, list, toolChangesQuerySchema, /^[1-9]\d{0,14}$/);
    return show(await this.#publisher.changes(caller, name, { limit, after }), (change) => change);
  }

  @Post(':name/quarantine')
  @HttpCode(200)
  quarantine(@Req() request: HttpRequest, @Param('name') name: string): Promise<object> {
    return this.#set(request, name, 'quarantined', TOOL_KEEPERS);
  }

  @Post(':name/deprecate')
  @HttpCode(200)
  deprecate(@Req() request: HttpRequest, @Param('name') name: string): Promise<object> {
    return this.#set(request, name, 'deprecated', PUBLISHERS);
  }

  @Post(':name/release')
  @HttpCode(200)
  release(@Req() request: HttpRequest, @Param('name') name: string): Promise<object> {
    return this.#set(request, name, null, PUBLISHERS);
  }

  async #set(request: HttpRequest, name: string, standing: Standing | null, roles: readonly string[]): Promise<object> {
    const caller = this.#access.require(request, ...roles);
    const { value } = readBody(request, standingSchema, this.#limits);
    return { tool: await this.#publisher.setStanding(caller, name, standing, value.reason), standing };
  }
}
