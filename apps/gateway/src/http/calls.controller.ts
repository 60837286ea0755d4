import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { JsonLimits } from '#kernel';
import type { RunViews } from '../adapters/run-views.ts';
import { ROLES } from '../domain/caller.ts';
import { notFound } from '../domain/problem.ts';
import { directCallSchema } from '../domain/requests.schema.ts';
import { resultOf } from '../domain/result-view.ts';
import { maySee, publicCall } from '../domain/views.ts';
import type { GatewayIntake } from '../gateway-intake.ts';
import type { Access } from './access.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody } from './read-body.ts';
import { ACCESS, BODY_LIMITS, INTAKE, VIEWS } from './tokens.ts';

/** One governed call at a time. */
@Controller('v1/calls')
export class CallsController {
  readonly #access: Access;
  readonly #intake: GatewayIntake;
  readonly #views: RunViews;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(INTAKE) intake: GatewayIntake,
    @Inject(VIEWS) views: RunViews,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#intake = intake;
    this.#views = views;
    this.#limits = limits;
  }

  @Post()
  async create(@Req() request: HttpRequest, @Res({ passthrough: true }) reply: HttpReply): Promise<object> {
    const caller = this.#access.require(request, ROLES.agent);
    const { value, document } = readBody(request, directCallSchema, this.#limits);
    const answer = await this.#intake.call(caller, value, intakeOptions(request, reply, document));
    if (answer.settled) {
      reply.status(200);
      return resultOf(answer.settled, request.id);
    }
    reply.status(202).header('location', `/v1/calls/${answer.callId}`);
    return { runId: answer.runId, callId: answer.callId, status: 'accepted' };
  }

  @Get(':id')
  async show(@Req() request: HttpRequest, @Param('id') callId: string): Promise<object> {
    const caller = this.#access.require(request, ROLES.agent, ROLES.operator, ROLES.auditor);
    const call = await this.#views.call(caller.tenant, callId);
    if (!call || !maySee(caller, call)) throw notFound('call');
    return publicCall(call, request.id);
  }
}
