import type { Incoming } from '#bus';
import { message, outgoing, TOPICS, type Message, type OutgoingMessage } from '#contracts';
import { derivedId } from '#kernel';
import type { Tx } from '#persistence';
import { answeredCommands, commandKey, insertAnswers } from '../adapters/approval-command.repository.ts';
import { insertStanding, lockStanding, revokeStanding } from '../adapters/standing.repository.ts';
import { refuseStanding } from '../domain/standing.ts';
import type { KnownContracts } from './decision-maker.ts';
import type { PolicyParts } from './policy-parts.ts';

export type StandingCommand = 'GrantStanding' | 'RevokeStanding';
type Command = Message<StandingCommand>;

/** Who may end a standing grant besides the one who gave it: ending one is always safe. */
const ENDERS: readonly string[] = ['approver', 'operator', 'tenant-admin'];

/** GrantStanding, RevokeStanding: one answer for each command, sent again on a repeat. People's pace: a statement each. */
export function decideStandings({ maker, database, outbox, clock }: PolicyParts) {
  return async (batch: readonly Incoming<StandingCommand>[]): Promise<void> => {
    const commands = new Map<string, Command>();
    for (const { message: command } of batch) {
      const key = commandKey(command.tenant, command.data.commandId);
      if (!commands.has(key)) commands.set(key, command);
    }
    const digests = batch.flatMap(({ message: { data } }) => ('scope' in data ? [data.scope] : []));
    const contracts = await maker.contractsOf(digests);
    const staged = await database.transaction(async (tx) => {
      const answered = await answeredCommands(
        tx,
        [...commands.values()].map((c) => ({ tenant: c.tenant, commandId: c.data.commandId })),
      );
      const out: OutgoingMessage[] = [];
      for (const [key, command] of commands) {
        const known = answered.get(key);
        const messages = known ?? [await answer(tx, command, contracts, clock.now())];
        if (!known) await insertAnswers(tx, [{ tenant: command.tenant, commandId: command.data.commandId, messages }]);
        out.push(...messages);
      }
      return outbox.append(tx, out);
    });
    outbox.emit(staged);
  };
}

async function answer(tx: Tx, command: Command, contracts: KnownContracts, now: number): Promise<OutgoingMessage> {
  const { tenant } = command;
  const { commandId, standingId, principal: by } = command.data;
  const context = (type: string) => ({
    tenant,
    causationId: command.id,
    correlationId: command.correlationId,
    now,
    id: derivedId('msg', tenant, commandId, type),
  });
  const refused = (code: Message<'StandingRefused'>['data']['code'], text: string): OutgoingMessage =>
    outgoing(
      TOPICS.callDecided,
      message('StandingRefused', context('StandingRefused'), { commandId, standingId, code, message: text }),
    );
  if (command.type === 'GrantStanding') {
    const { scope, reason } = (command as Message<'GrantStanding'>).data;
    const refusal = refuseStanding(by, scope, contracts(scope.contractDigest), now);
    if (refusal) return refused(refusal.code, refusal.message);
    const inserted = await insertStanding(tx, { standingId, tenant, scope, grantedBy: by, at: now, reason });
    if (!inserted) return refused('IDEMPOTENCY_CONFLICT', 'The id is taken.');
    const data = { commandId, standingId, by, scope };
    return outgoing(TOPICS.callDecided, message('StandingGranted', context('StandingGranted'), data));
  }
  const known = await lockStanding(tx, tenant, standingId);
  if (!known) return refused('NOT_FOUND', 'There is no such standing grant.');
  if (known.grantedBy.id !== by.id && !by.roles.some((role) => ENDERS.includes(role)))
    return refused('PERMISSION_DENIED', 'Only the one who gave it, an approver or an operator ends it.');
  if (known.revoked) return refused('IDEMPOTENCY_CONFLICT', 'It was revoked already.');
  await revokeStanding(tx, standingId, by, now);
  return outgoing(
    TOPICS.callDecided,
    message('StandingRevoked', context('StandingRevoked'), { commandId, standingId, by }),
  );
}
