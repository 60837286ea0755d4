import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { RUN_ID_PATTERN, type JsonLimits } from '#kernel';
import type { Reads } from '#runtime';
import type { RunViews } from '../adapters/run-views.ts';
import { READERS, ROLES, RUN_KEEPERS, seesTenant } from '../domain/caller.ts';
import { notFound } from '../domain/problem.ts';
import { labelsOf, runsQuerySchema } from '../domain/queries.schema.ts';
import {
  agentRunSchema,
  cancelSchema,
  clientRunSchema,
  compensateSchema,
  emptySchema,
  proposalsSchema,
  resumeSchema,
} from '../domain/requests.schema.ts';
import { resultOf } from '../domain/result-view.ts';
import { maySee, publicView, type View } from '../domain/views.ts';
import type { GatewayIntake, RunAnswer } from '../gateway-intake.ts';
import type { ControlCommand, RunCommands } from '../gateway-run-commands.ts';
import type { Access } from './access.ts';
import { answerTagged } from './entity-tag.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { intakeOptions, readBody, readOptionalBody } from './read-body.ts';
import { readPageQuery, refuseQuery } from './read-query.ts';
import { ACCESS, BODY_LIMITS, INTAKE, READS, RUN_COMMANDS, VIEWS } from './tokens.ts';

/** Runs that a model or the client drives. */
@Controller('v1/runs')
export class RunsController {
  readonly #access: Access;
  readonly #intake: GatewayIntake;
  readonly #commands: RunCommands;
  readonly #views: RunViews;
  readonly #reads: Reads;
  readonly #limits: JsonLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(INTAKE) intake: GatewayIntake,
    @Inject(RUN_COMMANDS) commands: RunCommands,
    @Inject(VIEWS) views: RunViews,
    @Inject(READS) reads: Reads,
    @Inject(BODY_LIMITS) limits: JsonLimits,
  ) {
    this.#access = access;
    this.#intake = intake;
    this.#commands = commands;
    this.#views = views;
    this.#reads = reads;
    this.#limits = limits;
  }

  @Post()
  async create(@Req() request: HttpRequest, @Res({ passthrough: true }) reply: HttpReply): Promise<object> {
    const caller = this.#access.require(request, ROLES.agent);
    const { value, document } = readBody(request, runSchemaOf, this.#limits);
    return answerRun(reply, await this.#intake.startRun(caller, value, intakeOptions(request, reply, document)));
  }

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.require(request, ...READERS);
    const { filters, limit, after, show } = readPageQuery(request, 'runs', runsQuerySchema, RUN_ID_PATTERN);
    const { label, ...others } = filters;
    const answer = await this.#reads.read<unknown>('state-store', 'runs', {
      ...others,
      labels: labelsOf(label),
      limit,
      after,
      ...(seesTenant(caller) ? {} : { principal: caller.principal.id }),
      tenant: caller.tenant,
    });
    return show(answer, (run) => (maySee(caller, run) ? publicView(run) : null));
  }

  @Get(':id')
  async show(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<unknown> {
    const caller = this.#access.require(request, ...READERS);
    refuseQuery(request);
    const run = await this.#views.run(caller.tenant, runId);
    if (!run || !maySee(caller, run)) throw notFound('run');
    return answerTagged(request.headers, reply, publicView(run));
  }

  @Post(':id/calls')
  async propose(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { value, document } = readBody(request, proposalsSchema, this.#limits);
    const calls = await this.#commands.propose(caller, runId, value, intakeOptions(request, reply, document));
    reply.status(calls.every((call) => call.settled) ? 200 : 202);
    return {
      runId,
      calls: calls.map(({ callId, settled }) =>
        settled ? resultOf(settled, request.id) : { callId, status: 'accepted' },
      ),
    };
  }

  @Post(':id/finish')
  async finish(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { document } = readOptionalBody(request, emptySchema, this.#limits);
    return answerRun(reply, await this.#commands.finish(caller, runId, intakeOptions(request, reply, document)));
  }

  @Post(':id/cancel')
  async cancel(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { value, document } = readOptionalBody(request, cancelSchema, this.#limits);
    return answerRun(reply, await this.#commands.cancel(caller, runId, value, intakeOptions(request, reply, document)));
  }

  @Post(':id/resume')
  async resume(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { value, document } = readBody(request, resumeSchema, this.#limits);
    return answerRun(reply, await this.#commands.resume(caller, runId, value, intakeOptions(request, reply, document)));
  }

  @Post(':id/compensate')
  async compensate(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { value, document } = readOptionalBody(request, compensateSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    return answerRun(reply, await this.#commands.compensate(caller, runId, value, options));
  }

  @Post(':id/pause')
  pause(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    return this.#control('PauseRun', request, reply, runId);
  }

  @Post(':id/take-over')
  takeOver(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    return this.#control('TakeOverRun', request, reply, runId);
  }

  @Post(':id/hand-back')
  handBack(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('id') runId: string,
  ): Promise<object> {
    return this.#control('HandBackRun', request, reply, runId);
  }

  async #control(type: ControlCommand, request: HttpRequest, reply: HttpReply, runId: string): Promise<object> {
    const caller = this.#access.require(request, ...RUN_KEEPERS);
    const { value, document } = readOptionalBody(request, cancelSchema, this.#limits);
    const options = intakeOptions(request, reply, document);
    return answerRun(reply, await this.#commands.control(caller, runId, type, value, options));
  }
}

/** The driver says which shape the body has; without one it is an agent's run. */
const runSchemaOf = (document: unknown): typeof agentRunSchema | typeof clientRunSchema =>
  (document as View | null)?.driver === 'client' ? clientRunSchema : agentRunSchema;

function answerRun(reply: HttpReply, { runId, view }: RunAnswer): object {
  if (view) {
    reply.status(200);
    return publicView(view);
  }
  reply.status(202).header('location', `/v1/runs/${runId}`);
  return { runId, status: 'accepted' };
}
