import { silenceNegativeTimeouts } from './timeout-warning.ts';

it('only the harmless warning of kafkajs is silenced', () => {
  const seen: unknown[][] = [];
  const target = { emitWarning: (...args: unknown[]) => void seen.push(args) } as Pick<NodeJS.Process, 'emitWarning'>;
  silenceNegativeTimeouts(target);
  silenceNegativeTimeouts(target);
  target.emitWarning('-5 is a negative number', 'TimeoutNegativeWarning');
  target.emitWarning('-5 is a negative number', { type: 'TimeoutNegativeWarning' });
  target.emitWarning('something else', 'OtherWarning');
  target.emitWarning('plain');
  expect(seen).toEqual([['something else', 'OtherWarning'], ['plain']]);
});
