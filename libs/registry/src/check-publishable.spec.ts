import type { ToolContractInput } from '#contracts';
import { checkPublishable, publishFaults } from '#registry';
import { sampleContract } from '../testing/sample-contract.ts';

const { input, output } = sampleContract();
const http = (url: string, more = {}): ToolContractInput['execution'] => ({
  kind: 'http',
  method: 'POST',
  url,
  ...more,
});
const withArgument = (name: string, schema: object): Record<string, unknown> => ({
  ...input,
  properties: { ...(input.properties as object), [name]: schema },
});

describe('publishing refuses (G13)', () => {
  it('nothing that is well described', () => {
    expect(publishFaults(sampleContract())).toEqual([]);
    const read = {
      layer: 'read',
      sideEffects: 'none',
      errors: [],
      noUndoReason: undefined,
    } as Partial<ToolContractInput>;
    expect(publishFaults(sampleContract({ ...read, execution: http('${DESK_URL}/t', { method: 'GET' }) }))).toEqual([]);
  });

  it.each<[string, string, Partial<ToolContractInput>]>([
    ['/whenToUse', 'required', { whenToUse: ' ' }],
    ['/description', 'hiddenCharacter', { description: 'Opens\u200b a ticket' }],
    ['/title', 'hiddenCharacter', { title: 'tic\u202eket' }],
    ['/output', 'required', { output: {} }],
    ['/input', 'schema', { input: { type: 'object', properties: { a: { type: 'strin' } } } }],
    ['/input', 'schema', { input: { type: 'object', properties: { a: { $ref: 'https://example.test/other' } } } }],
    ['/input/type', 'objectRoot', { input: { type: 'array' } }],
    ['/input/additionalProperties', 'strict', { input: { ...input, additionalProperties: true } }],
    [
      '/input/properties/host/format',
      'format',
      { input: withArgument('host', { type: 'string', format: 'hostname' }) },
    ],
    ['/input/properties/sql', 'rawAccess', { input: withArgument('sql', { type: 'string' }) }],
    ['/evidenceArgument', 'known', { evidenceArgument: 'evidence_ids' }],
    ['/result/allow', 'known', { result: { allow: ['secret'] } }],
    ['/result/redact/0', 'jsonPointer', { result: { redact: ['id'] } }],
    ['/resources', 'required', { concurrency: 'per_resource' }],
    ['/resources/0', 'known', { resources: ['ticket:{ticket_id}'] }],
    ['/resources/0', 'required', { resources: ['day:{due}'] }],
    ['/resourceForms/summary', 'known', { resourceForms: { summary: 'path' } }],
    ['/idempotency/template', 'known', { idempotency: { mode: 'key', template: '{tasks}', place: { header: 'K' } } }],
    ['/idempotency/template', 'known', { idempotency: { mode: 'key', template: '{arg:id}', place: { header: 'K' } } }],
    [
      '/idempotency/place/argument',
      'known',
      { idempotency: { mode: 'key', template: '{task}', place: { argument: 'key' } } },
    ],
    ['/fence', 'oneHolder', { fence: { header: 'Fence' } }],
    ['/fence/argument', 'known', { concurrency: 'exclusive', fence: { argument: 'fence' } }],
    ['/execution/url', 'anyUrl', { execution: http('https://{summary}/x') }],
    ['/execution/url', 'url', { execution: http('/etc/passwd') }],
    ['/execution/url', 'url', { execution: http('file:///etc/passwd') }],
    ['/execution/url', 'known', { execution: http('${DESK_URL}/tickets/{id}') }],
    ['/execution/query', 'known', { execution: http('${DESK_URL}/tickets', { query: ['q'] }) }],
    [
      '/execution/method',
      'readWithoutEffect',
      { layer: 'read', sideEffects: 'none', execution: http('${U}/t', { method: 'DELETE' }) },
    ],
    ['/sideEffects', 'readWithoutEffect', { layer: 'read' }],
    ['/sideEffects', 'writeWithEffect', { sideEffects: 'none' }],
    ['/errors', 'required', { errors: [] }],
    ['/noUndoReason', 'required', { noUndoReason: undefined }],
    ['/approval/roles', 'required', { approval: { mode: 'always', roles: [] } }],
    ['/approval/mode', 'risk', { approval: { mode: 'never' }, risk: 'critical' }],
    [
      '/retry/attempts',
      'idempotency',
      { idempotency: { mode: 'none' }, retry: { attempts: 3, backoffMs: 1, capMs: 1 } },
    ],
  ])('%s (%s)', (path, rule, change) => {
    expect(publishFaults(sampleContract(change))).toEqual([expect.objectContaining({ path, rule })]);
  });

  it('names every fault of every contract in one error, each with its remedy', () => {
    const one = sampleContract({ whenToUse: ' ', output: {} });
    const two = sampleContract({ name: 'other', errors: [], output });
    expect(() => checkPublishable(one, two)).toThrow(
      /^Not publishable:\n {2}- desk\.create_ticket@1\.0\.0 \/whenToUse: .+\n {2}- desk\.create_ticket@1\.0\.0 \/output: .+\n {2}- desk\.other@1\.0\.0 \/errors: .+$/,
    );
  });
});
