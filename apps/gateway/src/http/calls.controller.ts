import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { CALL_ID_PATTERN, type JsonLimits } from '#kernel';
import type { Reads } from '#runtime';
import type { RunViews } from '../adapters/run-views.ts';
import { callHistory } from '../domain/call-history.ts';
import { READERS, ROLES, seesTenant } from '../domain/caller.ts';
import { notFound } from '../domain/problem.ts';
import { callsQuerySchema } from '../domain/queries.schema.ts';
import { directCallSchema } from '../domain/requests.schema.ts';
import { resultOf } from '../domain/result-view.ts';
import { listedCall, maySee, publicCall, type View } from '../domain/views.ts';
import type { GatewayIntake } from '../gateway-intake.ts';
import type { Access } from './access.ts';
import { answerTagged } from './entity-tag.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody } from './read-body.ts';
import { readPageQuery, refuseQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, INTAKE, READS, VIEWS } from './tokens.ts';

interface Audited {
  readonly items: readonly View[];
  readonly truncated: boolean;
}
const MAX_RECORDS = 200;

/** One governed call at a time. */
@Controller('v1/calls')
export class CallsController {
  readonly #access: Access;
  readonly #intake: GatewayIntake;
  readonly #views: RunViews;
  readonly #reads: Reads;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(INTAKE) intake: GatewayIntake,
    @Inject(VIEWS) views: RunViews,
    @Inject(READS) reads: Reads,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#intake = intake;
    this.#views = views;
    this.#reads = reads;
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

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...READERS);
    const { filters, limit, after, show } = readPageQuery(request, 'calls', callsQuerySchema, CALL_ID_PATTERN);
    const answer = await this.#reads.read<unknown>('state-store', 'callsPage', {
      ...filters,
      limit,
      after,
      ...(seesTenant(caller) ? {} : { principal: caller.principal.id }),
      tenant: caller.tenant,
    });
    return show(answer, (call) => (maySee(caller, call) ? listedCall(call) : null));
  }

  @Get(':id')
  async show(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') callId: string,
  ): Promise<unknown> {
    const caller = this.#access.require(request, ...READERS);
    refuseQuery(request);
    const call = await this.#views.call(caller.tenant, callId);
    if (!call || !maySee(caller, call)) throw notFound('call');
    return answerTagged(request.headers, reply, publicCall(call, request.id), publicCall(call, ''));
  }

  @Get(':id/history')
  async history(@Req() request: HttpRequest, @Param('id') callId: string): Promise<object> {
    const caller = this.#access.require(request, ...READERS);
    refuseQuery(request);
    const { tenant } = caller;
    const call = await this.#views.call(tenant, callId);
    if (!call || !maySee(caller, call)) throw notFound('call');
    const found = await this.#reads.read<Audited>('telemetry', 'callHistory', { tenant, callId, limit: MAX_RECORDS });
    const { runId, status } = call;
    return { callId, runId, status, items: callHistory(call, found.items), truncated: found.truncated };
  }
}
