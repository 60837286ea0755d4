import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { JsonLimits } from '#kernel';
import type { ApprovalDesk } from '../adapters/approval-desk.ts';
import { ROLES } from '../domain/caller.ts';
import { approvalsQuerySchema } from '../domain/queries.schema.ts';
import { decisionSchema, parseShape } from '../domain/requests.schema.ts';
import { asPage, publicView } from '../domain/views.ts';
import type { Access } from './access.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody } from './read-body.ts';
import { ACCESS, APPROVAL_DESK, BODY_LIMITS } from './tokens.ts';

const READERS = [ROLES.approver, ROLES.operator, ROLES.auditor];

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
    const caller = this.#access.require(request, ...READERS);
    const query = parseShape(approvalsQuerySchema, request.query, 'The query has the wrong shape');
    return asPage(await this.#desk.list(caller.tenant, query), publicView);
  }

  @Get(':id')
  async show(@Req() request: HttpRequest, @Param('id') approvalId: string): Promise<object> {
    const caller = this.#access.require(request, ...READERS);
    return publicView(await this.#desk.show(caller.tenant, approvalId));
  }

  @Post(':id/decision')
  @HttpCode(200)
  async decide(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') approvalId: string,
  ): Promise<object> {
    const caller = this.#access.identify(request);
    const { value, document } = readBody(request, decisionSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    return publicView(await this.#desk.decide(caller, approvalId, value, options));
  }
}
