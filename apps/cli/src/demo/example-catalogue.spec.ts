import { existsSync } from 'node:fs';
import path from 'node:path';
import { scriptRequest, type ScriptItem } from '#providers';
import { EXAMPLE_CATALOGUE, exampleOf, scriptOfAll } from './example-catalogue.ts';
import { EXAMPLE_NAMES } from './example-names.ts';

const asked = (tool: string, content = 'order-1 order-2') =>
  scriptRequest(
    { model: 'any', input: [{ role: 'user', content }], tools: [{ type: 'function', name: tool, parameters: {} }] },
    0,
  );

describe('the examples of the demo', () => {
  it('are all there, each with a workspace, a service and a setting of its own', () => {
    expect(EXAMPLE_CATALOGUE.map(({ name }) => name)).toEqual(EXAMPLE_NAMES);
    for (const name of EXAMPLE_NAMES)
      expect(existsSync(path.join(exampleOf(name).workspace, 'service/main.ts'))).toBe(true);
    expect(new Set(EXAMPLE_CATALOGUE.map(({ urlVariable }) => urlVariable)).size).toBe(EXAMPLE_NAMES.length);
  });

  it.each([
    ['incidents__search_runbook', 'incidents__read_recent_alerts'],
    ['research__save_draft', 'research__search_documents'],
    ['orders__execute_refund', 'orders__read_order'],
  ])('one scripted model plays the example whose tools are offered: %s', async (offered, first) => {
    const [item] = (await scriptOfAll(asked(offered))) as readonly ScriptItem[];
    expect(item).toMatchObject({ call: first });
  });

  it('tools of no example are a fault of the demo, not an empty answer', () => {
    expect(() => scriptOfAll(asked('other__tool'))).toThrow('no example offers these tools');
  });
});
