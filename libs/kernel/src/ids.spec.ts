import {
  CALL_ID_PATTERN,
  callIdOf,
  newId,
  runIdFromKey,
  runIdOfCall,
  runPart,
  RUN_ID_PATTERN,
  sortableId,
} from '#kernel';

describe('ids', () => {
  it('sort by time and fit their patterns', () => {
    const earlier = newId('run', 1_000);
    const later = newId('run', 2_000);
    expect(earlier < later).toBe(true);
    expect(earlier).toMatch(RUN_ID_PATTERN);
    expect(sortableId(Date.now())).toHaveLength(26);
  });
  it('a call id names its run, whether numbered or derived', () => {
    const run = newId('run');
    for (const call of [callIdOf(run, 1), callIdOf(run, 123_456), callIdOf(run, ['key', '0'])]) {
      expect(call).toMatch(CALL_ID_PATTERN);
      expect(runIdOfCall(call)).toBe(run);
      expect(runPart(call)).toBe(runPart(run));
    }
  });
  it('the same caller, route and key name the same run; another tenant names another (G12)', () => {
    const id = runIdFromKey('acme', 'user:a', 'POST /v1/runs', 'k');
    expect(id).toMatch(RUN_ID_PATTERN);
    expect(runIdFromKey('acme', 'user:a', 'POST /v1/runs', 'k')).toBe(id);
    expect(runIdFromKey('other', 'user:a', 'POST /v1/runs', 'k')).not.toBe(id);
    expect(runIdFromKey('acme', 'user:b', 'POST /v1/runs', 'k')).not.toBe(id);
  });
  it('refuses what is no id', () => {
    expect(() => runPart('call_x')).toThrow(TypeError);
    expect(() => runPart('')).toThrow(TypeError);
  });
});
