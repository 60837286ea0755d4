import { platformSettings, SERVICE_SETTING_NAMES } from '#runtime';
import { allDoors } from '../../apps/all-in-one/src/doors.ts';

it('the list of service settings is what the services declare (G13: a misspelt variable stops the start)', () => {
  const declared = new Set(
    allDoors
      .flatMap((door) => Object.keys(door.settings))
      .filter((name) => name.startsWith('COUNTERSIGN_') && !(name in platformSettings)),
  );
  expect([...declared].sort()).toEqual([...SERVICE_SETTING_NAMES].sort());
});

it('every setting says what it means', () => {
  for (const door of allDoors) {
    for (const [name, schema] of Object.entries(door.settings as Record<string, { description?: string }>)) {
      expect([name, schema.description]).toEqual([name, expect.any(String)]);
    }
  }
});
