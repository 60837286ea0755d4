import { code, digest, instant, name, number, toolName } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';

export const STANDING_AUDIT = {
  StandingGranted: {
    name: 'standing.granted',
    identity: ({ standingId }) => [standingId],
    fields: {
      standing_id: name(({ standingId }) => standingId),
      command_id: name(({ commandId }) => commandId),
      approver: name(({ by }) => by.id),
      tool: toolName(({ scope }) => scope.tool),
      contract_digest: digest(({ scope }) => scope.contractDigest),
      principal: name(({ scope }) => scope.principal),
      uses: number(({ scope }) => scope.uses),
      max_amount: number(({ scope }) => scope.maxAmount),
      total_amount: number(({ scope }) => scope.totalAmount),
      expires_at: instant(({ scope }) => scope.expiresAt),
    },
  },
  StandingRevoked: {
    name: 'standing.revoked',
    identity: ({ standingId }) => [standingId],
    fields: {
      standing_id: name(({ standingId }) => standingId),
      command_id: name(({ commandId }) => commandId),
      principal: name(({ by }) => by.id),
    },
  },
  StandingRefused: {
    name: 'standing.refused',
    identity: (refused) => [refused.standingId, refused.commandId, refused.code],
    fields: {
      standing_id: name(({ standingId }) => standingId),
      command_id: name(({ commandId }) => commandId),
      error_code: code((refused) => refused.code),
    },
  },
} as const satisfies AuditRows;
