import type { DeadLetter } from '../bus.port.ts';
import type { DeadLetterStore, StoredDeadLetter } from '../dead-letter-store.port.ts';
import { busContract } from '../../testing/bus-contract.ts';
import { MemoryBus } from './memory-bus.ts';

class ListedDeadLetters implements DeadLetterStore {
  readonly letters: StoredDeadLetter[] = [];
  async put(letter: DeadLetter): Promise<void> {
    this.letters.push({ ...letter, id: String(this.letters.length), at: '', replayedAt: null });
  }
  async list(): Promise<StoredDeadLetter[]> {
    return this.letters.toReversed();
  }
}

const features = { keepsMessages: false, highWater: false, members: false, brokerRestart: false };

busContract('in process', features, async () => {
  const deadLetters = new ListedDeadLetters();
  return {
    open: async ({ retry = {}, onFatal = () => undefined } = {}) =>
      new MemoryBus({ deadLetters, retry, onError: onFatal }),
    put: (bus, records) =>
      bus.publish(
        records.map(({ topic, key, value, headers = {} }) => ({
          topic,
          key: key as unknown as string,
          value,
          headers,
        })),
      ),
    letters: async (topic) => deadLetters.letters.filter((letter) => letter.topic === topic),
    committed: async () => null,
    restartBroker: async () => undefined,
    close: async () => undefined,
  };
});
