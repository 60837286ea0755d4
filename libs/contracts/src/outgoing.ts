import { CATALOGUE } from './catalogue.ts';
import { encodeMessage, type Message, type OutgoingMessage } from './message.ts';
import { partitionKey } from './topics.ts';

/** Addresses a message: its topic, its key by the catalogue, its partition by the run. */
export function outgoing(topic: string, value: Message): OutgoingMessage {
  const key = value[CATALOGUE[value.type].key];
  if (key === undefined) throw new TypeError(`${value.type} needs its ${CATALOGUE[value.type].key}`);
  return { topic, key, partitionKey: partitionKey(key), value: encodeMessage(value) };
}
