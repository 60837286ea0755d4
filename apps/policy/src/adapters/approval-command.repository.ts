import { partitionKey, type OutgoingMessage } from '#contracts';
import type { Tx } from '#persistence';

/** What answered a person's command; a repeat of the command id gets the same bytes again. */
export interface CommandAnswer {
  readonly tenant: string;
  readonly commandId: string;
  readonly messages: readonly OutgoingMessage[];
}

export const commandKey = (tenant: string, commandId: string): string => `${tenant} ${commandId}`;

/** By `commandKey`. */
export async function answeredCommands(
  tx: Tx,
  asked: readonly { tenant: string; commandId: string }[],
): Promise<Map<string, readonly OutgoingMessage[]>> {
  const rows = await tx.query<AnswerRow>({
    name: 'answered-approval-commands',
    text: `select c.* from unnest($1::text[], $2::text[]) as asked (tenant, command_id) join approval_command c using (tenant, command_id)`,
    values: [asked.map((a) => a.tenant), asked.map((a) => a.commandId)],
  });
  return new Map(rows.map((row) => [commandKey(row.tenant, row.command_id), messagesOf(row)]));
}

interface AnswerRow {
  tenant: string;
  command_id: string;
  topics: string[];
  keys: string[];
  answers: Buffer[];
}

const messagesOf = ({ topics, keys, answers }: AnswerRow): OutgoingMessage[] =>
  topics.map((topic, i) => ({ topic, key: keys[i]!, partitionKey: partitionKey(keys[i]!), value: answers[i]! }));

/** What was said when a person ended these approvals. */
export async function answersAbout(tx: Tx, approvalIds: readonly string[]): Promise<OutgoingMessage[]> {
  if (approvalIds.length === 0) return [];
  const rows = await tx.query<AnswerRow>({
    name: 'answers-about-approvals',
    text: `select c.* from approval a join approval_command c on c.tenant = a.tenant and c.command_id = a.command_id
            where a.approval_id = any($1::text[]) order by a.approval_id`,
    values: [approvalIds],
  });
  return rows.flatMap(messagesOf);
}

/** People decide at people's pace: a statement per command. */
export async function insertAnswers(tx: Tx, answers: readonly CommandAnswer[]): Promise<void> {
  for (const { tenant, commandId, messages } of answers) {
    await tx.change({
      name: 'insert-approval-command',
      text: `insert into approval_command (tenant, command_id, topics, keys, answers) values ($1, $2, $3::text[], $4::text[], $5::bytea[])
             on conflict do nothing`,
      values: [
        tenant,
        commandId,
        messages.map((m) => m.topic),
        messages.map((m) => m.key),
        messages.map((m) => m.value),
      ],
    });
  }
}
