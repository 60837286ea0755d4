import { call, outputOf, say, type Script } from '#providers';

/** The task of the demo. */
export const TASK =
  'Checkout is failing for customers. Triage it: what is going on, and open a ticket if it is an incident.';

const ALERTS = 'incidents__read_recent_alerts';
const RUNBOOKS = 'incidents__search_runbook';
const TICKET = 'incidents__create_incident_ticket';
const EVIDENCE_ID = /\b(?:alert-\d+|runbook-[a-z0-9-]+)\b/g;
const TICKET_ID = /\bINC-\d+\b/;

const idsIn = (text: string | null): string[] => [...new Set(text?.match(EVIDENCE_ID) ?? [])];

/** What a model does with this task: two reads at once, one ticket with evidence from them, a final answer. */
export const script: Script = (request) => {
  if (request.turnNo === 1) {
    return [
      call(ALERTS, { service: 'checkout', window_minutes: 60 }),
      call(RUNBOOKS, { query: '5xx errors after a deploy', service: 'checkout' }),
    ];
  }
  const ticket = outputOf(request, TICKET);
  if (ticket !== null) {
    const id = TICKET_ID.exec(ticket)?.[0];
    return [
      say(
        id === undefined
          ? 'Checkout answers with 5xx errors since the last deploy. No ticket was opened: the call did not succeed; a person must look at it.'
          : `Checkout answers with 5xx errors since the last deploy. Ticket ${id} is open, and the first step is to roll the deploy back.`,
      ),
    ];
  }
  const evidence = [...idsIn(outputOf(request, ALERTS)).slice(0, 2), ...idsIn(outputOf(request, RUNBOOKS)).slice(0, 1)];
  if (evidence.length === 0)
    return [say('Neither alerts nor runbooks could be read, so there is no evidence for a ticket.')];
  return [
    call(TICKET, {
      severity: 'sev1',
      summary: '38 % of checkout requests fail with 5xx since the deploy 18 minutes ago; first step: roll it back.',
      evidence_ids: evidence,
    }),
  ];
};
