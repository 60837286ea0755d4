import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import { digestJson, type JsonLimits } from '#kernel';
import { z } from 'zod';
import { ROLES } from '../../apps/gateway/src/domain/caller.ts';
import type { GatewayIntake } from '../../apps/gateway/src/gateway-intake.ts';
import type { HttpReply, HttpRequest } from '../../apps/gateway/src/http/http-request.ts';
import { readBody } from '../../apps/gateway/src/http/read-body.ts';
import { BODY_LIMITS, INTAKE } from '../../apps/gateway/src/http/tokens.ts';

const schema = z.strictObject({ callKey: z.string().min(1).max(200), amount: z.int().min(0) });
const WAIT_MS = 60_000;

/**
 * One governed write per request in the form of the peers' harness: `{callKey, amount}` → 200 when it is settled,
 * the same key gives the same outcome, `{"unknown": true}` where it cannot be known. Only the bench mounts it.
 */
@Controller('bench/calls')
export class BenchController {
  readonly #intake: GatewayIntake;
  readonly #limits: JsonLimits;

  constructor(@Inject(INTAKE) intake: GatewayIntake, @Inject(BODY_LIMITS) limits: JsonLimits) {
    this.#intake = intake;
    this.#limits = limits;
  }

  @Post()
  async create(@Req() request: HttpRequest, @Res({ passthrough: true }) reply: HttpReply): Promise<object> {
    const { value } = readBody(request, schema, this.#limits);
    const caller = { tenant: 'dev', principal: { id: 'user:bench', kind: 'service' as const, roles: [ROLES.agent] } };
    const { settled } = await this.#intake.call(
      caller,
      { tool: 'bench.apply_effect', arguments: { key: value.callKey, amount: value.amount }, taskId: value.callKey },
      { key: value.callKey, waitMs: WAIT_MS, requestDigest: digestJson('request/v1', value) },
    );
    if (settled?.status === 'succeeded') {
      reply.status(200);
      return { ok: true };
    }
    if (settled?.status === 'outcome_unknown') {
      reply.status(200);
      return { unknown: true };
    }
    reply.status(503);
    return { status: settled?.status ?? 'accepted', code: settled?.error?.code ?? null };
  }
}
