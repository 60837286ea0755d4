import { z } from 'zod';
import { CountersignError } from '#kernel';
import { integerSetting, listSetting, resolveSettings } from './settings.ts';

const shape = {
  COUNTERSIGN_PORT: integerSetting(8080, 1, 65535).describe('port of the API'),
  COUNTERSIGN_NAMES: listSetting('a'),
  COUNTERSIGN_TOKEN: z.string().min(16, 'expected at least 16 characters').optional(),
};
const fault = (env: Record<string, string>, known: string[] = []): string => {
  try {
    resolveSettings(shape, env, known);
  } catch (error) {
    expect(error).toBeInstanceOf(CountersignError);
    return (error as Error).message;
  }
  return '';
};

describe('settings (G13)', () => {
  it('are resolved once, with defaults, and frozen', () => {
    const settings = resolveSettings(shape, { COUNTERSIGN_NAMES: ' x, y ,' });
    expect(settings).toEqual({ COUNTERSIGN_PORT: 8080, COUNTERSIGN_NAMES: ['x', 'y'], COUNTERSIGN_TOKEN: undefined });
    expect(Object.isFrozen(settings)).toBe(true);
  });
  it('report every fault at once: name, what was found, what is expected; secrets stay hidden', () => {
    const text = fault({ COUNTERSIGN_PORT: 'eighty', COUNTERSIGN_TOKEN: 'hunter2' });
    expect(text).toContain(
      'COUNTERSIGN_PORT: found "eighty"; expected a whole number from 1 to 65535 (port of the API)',
    );
    expect(fault({ COUNTERSIGN_PORT: '-1.5' })).toContain('found "-1.5"; expected a whole number from 1 to 65535 (');
    expect(text).toContain('COUNTERSIGN_TOKEN: found (hidden); expected at least 16 characters');
    expect(text).not.toContain('hunter2');
  });
  it('refuse a misspelt variable and say which was meant; others of the environment are left alone', () => {
    expect(fault({ COUNTERSIGN_PROT: '1', PATH: '/bin' })).toContain(
      'COUNTERSIGN_PROT: not a setting; did you mean COUNTERSIGN_PORT?',
    );
    expect(fault({ COUNTERSIGN_OTHER: '1' }, ['COUNTERSIGN_OTHER'])).toBe('');
  });
});
