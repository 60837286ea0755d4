import { answered, failed } from '../../testing/executor-rig.ts';
import type { RunOutcome } from './tool-runner.port.ts';

import { nextStep, pauseBefore, type Attempts } from './next-step.ts';

const write: Attempts = { write: true, repeat: 'none', made: 1, allowed: 1, maybeBefore: false };

type FailedOutcome = Extract<RunOutcome, { kind: 'failed' }>;
const noEffect = failed('answered', true) as FailedOutcome;
const changed: FailedOutcome = { ...noEffect, error: { ...noEffect.error, code: 'APPROVAL_MISMATCH' } };

describe('what follows an attempt (safety.md, after a crash or timeout)', () => {
  it.each([
    ['an answer', answered({}), write, 'succeeded'],
    ['nothing was sent', failed('not_sent', true), write, 'failed'],
    ['nothing was sent, more attempts', failed('not_sent', true), { ...write, allowed: 2 }, 'repeat'],
    [
      'nothing was sent now, but maybe before',
      failed('not_sent', true),
      { ...write, repeat: 'key', made: 2, maybeBefore: true },
      'repeat',
    ],
    [
      'nothing was sent again and again, but maybe before',
      failed('not_sent', true),
      { ...write, repeat: 'key', made: 5, maybeBefore: true },
      'unknown',
    ],
    ['the tool proves that nothing changed', failed('answered', true), write, 'failed'],
    ['the tool fails without proof', failed('answered', false), write, 'unknown'],
    ['no answer, not repeatable', failed('maybe_sent', false), { ...write, allowed: 5 }, 'unknown'],
    ['no answer, the tool honours the key', failed('maybe_sent', false), { ...write, repeat: 'key' }, 'repeat'],
    ['no answer, repeat is harmless', failed('maybe_sent', false), { ...write, repeat: 'natural' }, 'repeat'],
    [
      'a version that has changed, after a lost answer that may have changed it',
      changed,
      { ...write, repeat: 'key', made: 2, maybeBefore: true },
      'unknown',
    ],
    ['a version that has changed', changed, { ...write, repeat: 'key' }, 'failed'],
    [
      'no answer again',
      failed('maybe_sent', false),
      { ...write, repeat: 'key', made: 2, maybeBefore: true },
      'unknown',
    ],
    [
      'no effect by a tool that honours the key, after a lost answer',
      failed('answered', true),
      { ...write, repeat: 'key', made: 2, maybeBefore: true },
      'failed',
    ],
    [
      'no effect this time, key not honoured, after a lost answer',
      failed('answered', true),
      { ...write, repeat: 'natural', made: 2, maybeBefore: true },
      'unknown',
    ],
    [
      'asked to come later, after a lost answer, no attempt left',
      failed('answered', true, true),
      { ...write, repeat: 'key', made: 2, maybeBefore: true },
      'unknown',
    ],
    ['a read without answer', failed('maybe_sent', true), { ...write, write: false }, 'failed'],
    ['a read that may be repeated', failed('maybe_sent', true, true), { ...write, write: false, allowed: 2 }, 'repeat'],
  ] as const)('%s', (_what, outcome, attempts, kind) => {
    expect(nextStep(outcome, attempts).kind).toBe(kind);
  });

  it('G5 a write that is not repeatable is attempted again only where nothing was sent or nothing changed', () => {
    for (const sent of ['not_sent', 'maybe_sent', 'answered'] as const)
      for (const noEffect of [true, false])
        for (const retryable of [true, false]) {
          const step = nextStep(failed(sent, noEffect, retryable), { ...write, allowed: 9 });
          if (step.kind === 'repeat') expect(sent === 'not_sent' || (sent === 'answered' && noEffect)).toBe(true);
          if (step.kind === 'failed') expect(sent === 'answered' && noEffect).toBe(true);
        }
  });

  it('pauses with full jitter up to the cap, and at least as long as the tool asked', () => {
    const retry = { backoffMs: 100, capMs: 350 };
    expect(pauseBefore(2, retry, null, 1)).toBe(100);
    expect(pauseBefore(3, retry, null, 0.5)).toBe(100);
    expect(pauseBefore(9, retry, null, 1)).toBe(350);
    expect(pauseBefore(2, retry, 2000, 0.1)).toBe(2000);
  });
});
