import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ALERTS, RUNBOOKS } from './incident-data.ts';
import { searchRunbooks } from './search-runbooks.ts';
import { TicketStore, type TicketInput } from './ticket-store.ts';

/**
 * The incident desk of the example company: alerts, runbooks and tickets over HTTP. It knows nothing of Countersign.
 *
 *   GET  /alerts?service=&window_minutes=    GET /runbooks?query=&service=
 *   GET  /tickets                            POST /tickets   (header Idempotency-Key)
 */
export interface IncidentService {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const MAX_BODY = 65_536;
const MAX_KEY = 1024;

class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @param port 0 for a free one. Tickets are kept in `dataDir` and survive a restart. */
export async function start(port: number, dataDir: string): Promise<IncidentService> {
  const tickets = await TicketStore.open(dataDir);
  const server = createServer((request, response) => {
    answer(request, tickets).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => {
        if (error instanceof Refused) send(response, error.status, { error: error.message });
        else send(response, 500, { error: 'The incident desk failed; see its log' });
        if (!(error instanceof Refused)) console.error(error);
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      await tickets.close();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
const ok = (body: unknown): Answer => ({ status: 200, body });

async function answer(request: IncomingMessage, tickets: TicketStore): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /health':
      return ok({ status: 'ok' });
    case 'GET /alerts':
      return ok({ alerts: alerts(required(url, 'service'), minutes(url)) });
    case 'GET /runbooks': {
      const found = searchRunbooks(RUNBOOKS, required(url, 'query'), url.searchParams.get('service'));
      return ok({ runbooks: found.map(({ id, title, steps }) => ({ id, title, steps })) });
    }
    case 'GET /tickets':
      return ok({ tickets: tickets.all.map(({ ticket, key }) => ({ ...ticket, idempotency_key: key })) });
    case 'POST /tickets':
      return createTicket(request, tickets);
    default:
      throw new Refused(404, `There is no ${request.method} ${url.pathname}`);
  }
}

async function createTicket(request: IncomingMessage, tickets: TicketStore): Promise<Answer> {
  const key = request.headers['idempotency-key'];
  if (Array.isArray(key) || (key !== undefined && (key === '' || key.length > MAX_KEY))) {
    throw new Refused(400, `Idempotency-Key must have 1 to ${MAX_KEY} characters`);
  }
  const result = await tickets.create(ticketInput(await readJson(request)), key ?? null);
  if (result.kind === 'conflict') throw new Refused(409, 'This Idempotency-Key was used for another ticket');
  return { status: result.kind === 'created' ? 201 : 200, body: result.ticket };
}

function alerts(service: string, windowMinutes: number): unknown[] {
  const now = Date.now();
  return ALERTS.filter((alert) => alert.service === service && alert.minutesAgo <= windowMinutes)
    .sort((a, b) => a.minutesAgo - b.minutesAgo)
    .map(({ minutesAgo, ...alert }) => ({ ...alert, fired_at: new Date(now - minutesAgo * 60_000).toISOString() }));
}

function required(url: URL, name: string): string {
  const value = url.searchParams.get(name)?.trim() ?? '';
  if (value === '') throw new Refused(400, `The query parameter ${name} is missing`);
  return value;
}

function minutes(url: URL): number {
  const text = required(url, 'window_minutes');
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1440)
    throw new Refused(400, 'window_minutes must be a whole number from 1 to 1440');
  return value;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) throw new Refused(413, `The body has more than ${MAX_BODY} bytes`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Refused(400, 'The body is not JSON');
  }
}

function ticketInput(body: unknown): TicketInput {
  const { severity, summary, evidence_ids: evidence, ...rest } = (body ?? {}) as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Refused(400, `The field ${unknown} is not known`);
  if (severity !== 'sev1' && severity !== 'sev2' && severity !== 'sev3')
    throw new Refused(400, 'severity must be sev1, sev2 or sev3');
  if (typeof summary !== 'string' || summary.trim() === '' || summary.length > 500)
    throw new Refused(400, 'summary must have 1 to 500 characters');
  if (
    !Array.isArray(evidence) ||
    evidence.length === 0 ||
    !evidence.every((id) => typeof id === 'string' && id !== '')
  ) {
    throw new Refused(400, 'evidence_ids must name at least one id');
  }
  return { severity, summary, evidence_ids: evidence as string[] };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
