import net from 'node:net';
import type { Admin } from 'kafkajs';

/**
 * A process that was killed stays a member of its groups until its session is over, and whoever joins waits for that. The
 * process that takes its place knows better, and takes it out of them.
 * G1 taking out a member that lives after all costs a rebalance and nothing else: it joins again, its records come again (B2);
 * G2 nobody waits for this longer than `LIMIT_MS`, and nothing fails by it: the session ends by itself.
 *
 * kafkajs 2.2.4 leaves groups as the member that it is, only; so the request is made here.
 * Source: https://kafka.apache.org/protocol, "FindCoordinator" (10, v0) and "LeaveGroup" (13, v0).
 */
export const LIMIT_MS = 3_000;

const FIND_COORDINATOR = 10;
const LEAVE_GROUP = 13;

export interface GoneMembersOptions {
  readonly admin: Pick<Admin, 'describeGroups'>;
  readonly brokers: readonly string[];
  readonly groupIds: readonly string[];
  /** Whether that client is a process that lives no more. */
  readonly isGone: (clientId: string) => boolean;
}

/** @returns how many members were taken out of their groups */
export async function removeGoneMembers({ admin, brokers, groupIds, isGone }: GoneMembersOptions): Promise<number> {
  const { groups } = await admin.describeGroups([...groupIds]);
  const gone = groups.flatMap(({ groupId, members }) =>
    members.filter(({ clientId }) => isGone(clientId)).map(({ memberId }) => ({ groupId, memberId })),
  );
  const coordinators = new Map<string, Promise<string>>();
  const removed = await Promise.allSettled(
    gone.map(async ({ groupId, memberId }) => {
      const coordinator = coordinators.get(groupId) ?? findCoordinator(brokers, groupId);
      coordinators.set(groupId, coordinator);
      const answer = await request(await coordinator, LEAVE_GROUP, Buffer.concat([text(groupId), text(memberId)]));
      if (answer.readInt16BE(8) !== 0) throw new Error(`LeaveGroup: error ${answer.readInt16BE(8)}`);
    }),
  );
  return removed.filter(({ status }) => status === 'fulfilled').length;
}

/** Of the first broker that answers. */
async function findCoordinator(brokers: readonly string[], groupId: string): Promise<string> {
  const answer = await Promise.any(brokers.map((address) => request(address, FIND_COORDINATOR, text(groupId))));
  const error = answer.readInt16BE(8);
  if (error !== 0) throw new Error(`FindCoordinator: error ${error}`);
  const length = answer.readInt16BE(14); // after the node's id
  return `${answer.toString('utf8', 16, 16 + length)}:${answer.readInt32BE(16 + length)}`;
}

/** One request of version 0 on a connection of its own: size, key, version, correlation id, client id, then the body. */
function request(address: string, key: number, body: Buffer): Promise<Buffer> {
  const client = text('countersign');
  const head = Buffer.alloc(12);
  head.writeInt32BE(8 + client.length + body.length, 0);
  head.writeInt16BE(key, 4);
  const at = address.lastIndexOf(':');
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const socket = net.connect({
    host: address.slice(0, at).replace(/^\[|\]$/g, ''),
    port: Number(address.slice(at + 1)),
  });
  let answer = Buffer.alloc(0);
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('no answer')));
  socket.on('error', reject).on('close', () => reject(new Error('the connection was closed')));
  socket.on('data', (chunk: Buffer) => {
    answer = Buffer.concat([answer, chunk]);
    if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return;
    resolve(answer);
    socket.destroy();
  });
  socket.write(Buffer.concat([head, client, body]));
  return promise;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
