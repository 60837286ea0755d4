import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { APPROVAL_ID_PATTERN, type JsonLimits } from '#kernel';
import type { ApprovalDesk } from '../adapters/approval-desk.ts';
import { APPROVAL_READERS } from '../domain/caller.ts';
import { approvalsQuerySchema } from '../domain/queries.schema.ts';
import { answerSchema, withdrawalSchema } from '../domain/requests.schema.ts';
import { publicView, type View } from '../domain/views.ts';
import type { Access } from './access.ts';
import { answerTagged, entityTag, requireMatch } from './entity-tag.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody, readOptionalBody } from './read-body.ts';
import { readPageQuery, refuseQuery } from './read-query.ts';
import { ACCESS, APPROVAL_DESK, BODY_LIMITS } from './tokens.ts';

/** What waits for a person, and the person's decision. */
@Controller('v1/approvals')
export class ApprovalsController {
  readonly #access: Access;
  readonly #desk: ApprovalDesk;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(APPROVAL_DESK) desk: ApprovalDesk,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#desk = desk;
    this.#limits = limits;
  }

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const { tenant } = this.#access.require(request, ...APPROVAL_READERS);
    const page = readPageQuery(request, 'approvals', approvalsQuerySchema, APPROVAL_ID_PATTERN);
    const { filters, limit, after, show } = page;
    return show(await this.#desk.list(tenant, { ...filters, limit, after }), publicView);
  }

  @Get(':id')
  async show(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') approvalId: string,
  ): Promise<unknown> {
    const { tenant } = this.#access.require(request, ...APPROVAL_READERS);
    refuseQuery(request);
    return answerTagged(request.headers, reply, publicView(await this.#desk.show(tenant, approvalId)));
  }

  @Post(':id/decision')
  @HttpCode(200)
  async decide(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') approvalId: string,
  ): Promise<object> {
    const caller = this.#access.identify(request);
    const { value, document } = readBody(request, answerSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    const isCurrent = (view: View): void =>
      requireMatch(request.headers, publicView(view), { approval: publicView(view) });
    const now =
      value.decision === 'edited'
        ? await this.#desk.edit(caller, approvalId, value, { ...options, isCurrent })
        : await this.#desk.decide(caller, approvalId, value, { ...options, isCurrent });
    const decided = publicView(now);
    reply.header('etag', entityTag(decided));
    return decided;
  }

  @Post(':id/withdraw')
  @HttpCode(200)
  async withdraw(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') approvalId: string,
  ): Promise<object> {
    const caller = this.#access.identify(request);
    const { value, document } = readOptionalBody(request, withdrawalSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    return publicView(await this.#desk.withdraw(caller, approvalId, value, options));
  }
}
