import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { RunProgressReader } from '../adapters/run-progress-reader.ts';
import type { RunStreams } from '../adapters/run-streams.ts';
import type { RunViews } from '../adapters/run-views.ts';
import { watchRun } from '../adapters/watch-run.ts';
import { READERS } from '../domain/caller.ts';
import { HttpProblem, notFound } from '../domain/problem.ts';
import { noQuerySchema } from '../domain/queries.schema.ts';
import type { Headers } from '../domain/request-headers.ts';
import { parseShape } from '../domain/requests.schema.ts';
import { isOver } from '../domain/run-events.ts';
import { decodeTold, nothingTold, type Told } from '../domain/stream-cursor.ts';
import { maySee } from '../domain/views.ts';
import type { Access } from './access.ts';
import { EventWriter } from './event-writer.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { ACCESS, PROGRESS, STREAM_LIMITS, STREAMS, VIEWS } from './tokens.ts';

export interface StreamLimits {
  readonly heartbeatMs: number;
  /** Bytes that a reader may be behind. */
  readonly bufferBytes: number;
}

type StreamingReply = HttpReply & {
  hijack(): void;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  readonly raw: ServerResponse;
};

/** What happens in a run, as server-sent events. */
@Controller('v1/runs')
export class RunEventsController {
  readonly #access: Access;
  readonly #views: RunViews;
  readonly #streams: RunStreams;
  readonly #progress: RunProgressReader;
  readonly #limits: StreamLimits;

  constructor(
    @Inject(ACCESS) access: Access,
    @Inject(VIEWS) views: RunViews,
    @Inject(STREAMS) streams: RunStreams,
    @Inject(PROGRESS) progress: RunProgressReader,
    @Inject(STREAM_LIMITS) limits: StreamLimits,
  ) {
    this.#access = access;
    this.#views = views;
    this.#streams = streams;
    this.#progress = progress;
    this.#limits = limits;
  }

  @Get(':id/events')
  async watch(@Req() request: HttpRequest, @Res() reply: StreamingReply, @Param('id') runId: string): Promise<void> {
    const caller = this.#access.require(request, ...READERS);
    parseShape(noQuerySchema, request.query, 'The query has the wrong shape');
    const { tenant } = caller;
    const run = await this.#views.run(tenant, runId);
    if (!run || !maySee(caller, run)) throw notFound('run');
    const told = toldBefore(runId, request.headers);
    const isGood = (): boolean => this.#access.isGood(request);
    const stream = this.#streams.open(tenant, runId, `${tenant} ${caller.principal.id}`, isGood);
    try {
      stream.learn(await this.#progress.first(tenant, runId));
      if (isOver(told, stream.known)) return void reply.status(204).send(undefined);
      const writer = this.#open(reply);
      reply.raw.once('close', () => stream.end());
      const load = () => this.#progress.stored(tenant, runId);
      const { heartbeatMs } = this.#limits;
      for await (const events of watchRun({ runId, told, stream, load, heartbeatMs })) {
        if (!isGood()) break;
        if (events.length === 0) writer.beat();
        for (const { type, data, id } of events) await writer.event(type, data, id);
        if (!writer.open) return;
      }
      if (!isGood()) writer.end('stream.closing', { reason: 'The credential has expired or was revoked' });
      else if (stream.ended) writer.end('stream.closing', { reason: 'The service stops here; go on from the last id' });
      else writer.end();
    } catch (error) {
      if (!reply.raw.headersSent) throw error;
      reply.raw.destroy();
      throw error;
    } finally {
      stream.close();
    }
  }

  #open(reply: StreamingReply): EventWriter {
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...reply.getHeaders(),
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    raw.socket?.setNoDelay(true);
    return new EventWriter(raw, this.#limits.bufferBytes);
  }
}

/** @throws HttpProblem 400 when it is not an id of this run's stream */
function toldBefore(runId: string, headers: Headers): Told {
  const found = headers['last-event-id'];
  if (found === undefined || found === '') return nothingTold();
  const told = typeof found === 'string' ? decodeTold(runId, found) : null;
  if (told) return told;
  const message = 'is not the id of an event of this run; leave it out to begin from the start';
  throw new HttpProblem(400, 'INVALID_ARGS', `Last-Event-ID: ${message}`, {
    details: [{ path: 'header:Last-Event-ID', rule: 'format', message }],
  });
}
