import { defineTool } from 'countersign/tools';

const base = {
  namespace: 'booking',
  version: '1.0.0',
  layer: 'write' as const,
  timeoutMs: 10_000,
  access: { roles: ['agent'] },
  risk: 'low' as const,
  sideEffects: 'reversible' as const,
  resources: ['seat:{seat}'],
  concurrency: 'per_resource' as const,
};
const text = { type: 'string', minLength: 1, maxLength: 60 };
const errors = [
  { when: 409, code: 'TOOL_ERROR' as const, noEffect: true, meaning: 'The seat is taken.' },
  { when: 422, code: 'TOOL_ERROR' as const, noEffect: true, meaning: 'The booking cannot be cancelled now.' },
  { when: 404, code: 'NOT_FOUND' as const, noEffect: true, meaning: 'There is no such booking.' },
];

export const book = defineTool({
  ...base,
  name: 'book',
  title: 'Book a seat',
  description: 'Books one seat.',
  whenToUse: 'To book a seat.',
  whenNotToUse: 'To look at seats.',
  input: {
    type: 'object',
    properties: { seat: text, who: { ...text, default: 'anyone' } },
    required: ['seat'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { booking: { type: 'string' }, seat: { type: 'string' } },
    required: ['booking'],
  },
  errors,
  idempotency: { mode: 'key', template: '{task}:{arg:seat}:{arg:who}', place: { header: 'Idempotency-Key' } },
  compensation: {
    tool: 'booking.cancel',
    arguments: { seat: { argument: '/seat' }, booking: { result: '/booking' } },
  },
  result: { resourceId: '/booking' },
  execution: { kind: 'http', method: 'POST', url: '${BOOKING_URL}/bookings', pool: 'default' },
});

export const cancel = defineTool({
  ...base,
  name: 'cancel',
  title: 'Cancel a booking',
  description: 'Cancels one booking.',
  whenToUse: 'To take a booking back.',
  whenNotToUse: 'To book.',
  input: {
    type: 'object',
    properties: { seat: text, booking: text },
    required: ['seat', 'booking'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { cancelled: { type: 'string' } }, required: ['cancelled'] },
  errors,
  idempotency: { mode: 'key', template: '{task}:{arg:booking}', place: { header: 'Idempotency-Key' } },
  noUndoReason: 'a cancelled booking is booked anew',
  execution: { kind: 'http', method: 'POST', url: '${BOOKING_URL}/cancellations', pool: 'default' },
});
