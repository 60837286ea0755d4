import type { ConsumerSpec } from '#bus';
import type { MessageType } from '#contracts';
import type { ServiceName } from '../door.ts';
import { checkConsumers } from './boot-checks.ts';

const service = (name: ServiceName, group: string, ...accepts: MessageType[]) => ({
  name,
  parts: {
    consumers: [
      { group, topics: ['t'], from: 'earliest', accepts, reduce: () => Promise.resolve() } satisfies ConsumerSpec,
    ],
  },
});

describe('the fit of the services is checked at start', () => {
  it('a group used twice, a foreign message and a command with two consumers are all named', () => {
    const check = (): void =>
      checkConsumers(
        [service('policy', 'g', 'CallProposed', 'StartRun'), service('orchestrator', 'g', 'StartRun')],
        false,
      );
    expect(check).toThrow(/group g is used by policy and orchestrator/);
    expect(check).toThrow(/policy consumes StartRun, which the catalogue does not say/);
    expect(check).toThrow(/the command StartRun has several consumers/);
  });
  it('a complete installation needs a consumer for each command', () => {
    expect(() => checkConsumers([service('policy', 'p', 'CallProposed')], true)).toThrow(
      /nobody consumes the command RequestTurn/,
    );
    expect(() => checkConsumers([service('policy', 'p', 'CallProposed')], false)).not.toThrow();
  });
});
