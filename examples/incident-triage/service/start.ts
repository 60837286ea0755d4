import {
  fieldsOf,
  ok,
  Refused,
  serveJson,
  textOf,
  type JsonAnswer,
  type JsonRequest,
  type JsonService,
} from '../../json-service.ts';
import { ALERTS, RUNBOOKS } from './incident-data.ts';
import { searchRunbooks } from './search-runbooks.ts';
import { TicketStore, type TicketInput } from './ticket-store.ts';

/**
 * The incident desk of the example company: alerts, runbooks and tickets over HTTP. It knows nothing of Countersign.
 *
 *   GET  /alerts?service=&window_minutes=    GET /runbooks?query=&service=
 *   GET  /tickets                            POST /tickets   (header Idempotency-Key)
 *
 * @param port 0 for a free one
 * @param dataDir where tickets are kept; they survive a restart
 */
export async function start(port: number, dataDir: string): Promise<JsonService> {
  const tickets = await TicketStore.open(dataDir);
  return serveJson(
    port,
    (request) => answer(request, tickets),
    () => tickets.close(),
  );
}

async function answer(request: JsonRequest, tickets: TicketStore): Promise<JsonAnswer> {
  const { query } = request;
  switch (request.route) {
    case 'GET /health':
      return ok({ status: 'ok' });
    case 'GET /alerts':
      return ok({ alerts: alerts(required(query, 'service'), minutes(query)) });
    case 'GET /runbooks': {
      const found = searchRunbooks(RUNBOOKS, required(query, 'query'), query.get('service'));
      return ok({ runbooks: found.map(({ id, title, steps }) => ({ id, title, steps })) });
    }
    case 'GET /tickets':
      return ok({ tickets: tickets.all.map(({ ticket, key }) => ({ ...ticket, idempotency_key: key })) });
    case 'POST /tickets':
      return createTicket(request, tickets);
    default:
      throw new Refused(404, `There is no ${request.route}`, 'no_such_route');
  }
}

async function createTicket(request: JsonRequest, tickets: TicketStore): Promise<JsonAnswer> {
  const result = await tickets.create(ticketInput(await request.json()), request.key());
  if (result.kind === 'conflict')
    throw new Refused(409, 'This Idempotency-Key was used for another ticket', 'key_conflict');
  return { status: result.kind === 'created' ? 201 : 200, body: result.ticket };
}

function alerts(service: string, windowMinutes: number): unknown[] {
  const now = Date.now();
  return ALERTS.filter((alert) => alert.service === service && alert.minutesAgo <= windowMinutes)
    .sort((a, b) => a.minutesAgo - b.minutesAgo)
    .map(({ minutesAgo, ...alert }) => ({ ...alert, fired_at: new Date(now - minutesAgo * 60_000).toISOString() }));
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)?.trim() ?? '';
  if (value === '') throw new Refused(400, `The query parameter ${name} is missing`);
  return value;
}

function minutes(query: URLSearchParams): number {
  const text = required(query, 'window_minutes');
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1440)
    throw new Refused(400, 'window_minutes must be a whole number from 1 to 1440');
  return value;
}

function ticketInput(body: unknown): TicketInput {
  const fields = fieldsOf(body, ['severity', 'summary', 'evidence_ids']);
  const { severity, evidence_ids: evidence } = fields;
  if (severity !== 'sev1' && severity !== 'sev2' && severity !== 'sev3')
    throw new Refused(400, 'severity must be sev1, sev2 or sev3');
  if (
    !Array.isArray(evidence) ||
    evidence.length === 0 ||
    !evidence.every((id) => typeof id === 'string' && id !== '')
  ) {
    throw new Refused(400, 'evidence_ids must name at least one id');
  }
  return { severity, summary: textOf(fields, 'summary', 500), evidence_ids: evidence as string[] };
}
