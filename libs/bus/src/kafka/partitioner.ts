import { Partitioners, type ICustomPartitioner, type Message } from 'kafkajs';

/** What we give to kafkajs: a message with the run's part beside its key. */
export interface PartitionedMessage extends Message {
  readonly partitionKey?: string;
}

/** murmur2, as Java's clients compute it: of the run's part for internal topics, of the key itself for public ones. */
export const partitioner: ICustomPartitioner = () => {
  const murmur2 = Partitioners.DefaultPartitioner();
  return ({ topic, partitionMetadata, message }) => {
    const key = (message as PartitionedMessage).partitionKey ?? message.key ?? null;
    return murmur2({ topic, partitionMetadata, message: { key, value: null } });
  };
};
