import type { ConsumerSpec } from '#bus';
import type { MessageType } from '#contracts';
import type { ServiceName } from '../door.ts';
import { checkConsumers, checkPools } from './boot-checks.ts';

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

describe('the pools are checked at start (G13)', () => {
  const fault = (pools: string[], own?: string): (() => void) => {
    const settings = { COUNTERSIGN_POOLS: pools, COUNTERSIGN_POOL: own };
    return () => checkPools(settings);
  };
  it('names that cannot be topics, an empty list and a repeated name are refused', () => {
    expect(fault(['default', 'A-b'])).toThrow(/COUNTERSIGN_POOLS: "A-b" is not a pool/);
    expect(fault([])).toThrow(/names no pool/);
    expect(fault(['a', 'a'])).toThrow(/names a pool twice/);
  });
  it("an executor's own pool must be one of them: else its calls would wait for ever", () => {
    expect(fault(['other'], 'default')).toThrow(
      /does not name default, the COUNTERSIGN_POOL of the executor here; add it/,
    );
    expect(fault(['other', 'default'], 'default')).not.toThrow();
    expect(fault(['other'])).not.toThrow();
  });
});
