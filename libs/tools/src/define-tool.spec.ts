import { z } from 'zod';
import { compileInput, contractDigest } from '#registry';
import { defineContract, defineTool } from '#tools';
import { sampleRead } from '../testing/sample-contract.ts';

const base = {
  namespace: 'ops',
  name: 'read_recent_alerts',
  version: '1.0.0',
  layer: 'read',
  title: 'Recent alerts',
  description: 'Alerts of a service.',
  whenToUse: 'To see what fired.',
  whenNotToUse: 'For history.',
  sideEffects: 'none',
  execution: { kind: 'local' },
} as const;

describe('defineTool', () => {
  it('makes one canonical contract whose digest is the one that the registry computes (G3)', () => {
    const tool = defineTool(
      { ...base, input: z.object({ service: z.string() }), output: z.object({ n: z.int() }) },
      async () => ({ n: 1 }),
    );
    expect(tool.contract).toMatchObject({ timeoutMs: 10_000, execution: { kind: 'local', pool: 'default' } });
    expect(tool.digest).toBe(contractDigest(JSON.parse(JSON.stringify(tool.contract))));
    expect(Object.isFrozen(tool.contract.result)).toBe(true);
  });

  it('closes zod arguments and opens zod results, with defaults that validation fills in', () => {
    const { contract } = defineTool({
      ...base,
      input: z.object({ service: z.string(), window: z.int().default(15) }),
      output: z.object({ n: z.int() }),
    });
    expect(contract.input).toMatchObject({ type: 'object', required: ['service'], additionalProperties: false });
    expect(contract.output).not.toHaveProperty('additionalProperties');
    expect(compileInput(contract).validate({ service: 'a' })).toEqual({
      ok: true,
      arguments: { service: 'a', window: 15 },
    });
    expect(compileInput(contract).validate({ service: 'a', x: 1 }).ok).toBe(false);
  });

  it('gives the handler arguments that its own zod type checked, and refuses others as proved without effect', async () => {
    const tool = defineTool(
      { ...base, input: z.object({ n: z.int().refine((n) => n % 2 === 0, 'must be even') }), output: {} },
      async ({ n }) => n / 2,
    );
    const context = {
      signal: new AbortController().signal,
      operationKey: 'k',
      callId: 'c',
      tenant: 'dev',
      attempt: 1,
      env: {},
    };
    await expect(tool.handler!({ n: 4 }, context)).resolves.toBe(2);
    await expect(tool.handler!({ n: 3 }, context)).rejects.toMatchObject({
      code: 'INVALID_ARGS',
      noEffect: true,
      message: expect.stringContaining('/n must be even'),
    });
  });

  it.each([
    ['a wrong name', { name: 'Read-Alerts' }, 'tool ops.Read-Alerts@1.0.0 is not a valid contract: /name:'],
    ['a missing field', { whenToUse: undefined }, '/whenToUse:'],
    ['an unknown field', { colour: 'red' }, 'colour'],
    [
      'arguments that are no object',
      { input: { type: 'string' } },
      '/input/type: arguments are one object; set "type": "object"',
    ],
    ['a zod type without a JSON Schema', { input: z.object({ when: z.date() }) }, '/input: Date cannot be represented'],
  ])('names the tool, the place and the remedy of %s (G13)', (_title, changes, text) => {
    expect(() => defineTool({ ...base, input: { type: 'object' }, output: {}, ...changes } as never)).toThrow(text);
  });

  it('refuses a handler for a tool that runs elsewhere', () => {
    expect(() => sampleRead({ execution: { kind: 'http', method: 'GET', url: 'http://x/' } }, async () => 1)).toThrow(
      '/execution/kind',
    );
  });

  it('refuses a document that is no object', () => expect(() => defineContract([1])).toThrow('expected an object'));
});
