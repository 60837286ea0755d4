import * as standing from '../messages/standing.schema.ts';
import { row } from './catalogue-row.ts';

const command = {
  topic: 'policy.commands',
  key: 'tenant',
  kind: 'command',
  producer: 'gateway',
  consumers: ['policy'],
} as const;
const fact = {
  topic: 'call.decided',
  key: 'tenant',
  kind: 'fact',
  producer: 'policy',
  consumers: ['gateway', 'telemetry'],
} as const;

/** Standing grants belong to no run: their key is the tenant. */
export const STANDING_ROWS = {
  GrantStanding: row(standing.grantStandingSchema, {
    ...command,
    meaning: 'A person allows exact calls in advance: scoped, counted, expiring, revocable.',
  }),
  RevokeStanding: row(standing.revokeStandingSchema, { ...command, meaning: 'A standing grant is used no more.' }),
  StandingGranted: row(standing.standingGrantedSchema, {
    ...fact,
    meaning: 'Calls within the scope need no other person.',
  }),
  StandingRevoked: row(standing.standingRevokedSchema, { ...fact, meaning: 'The standing grant is used no more.' }),
  StandingRefused: row(standing.standingRefusedSchema, {
    ...fact,
    meaning: 'A command about a standing grant that does not count, with the reason; nothing changed.',
  }),
} as const;
