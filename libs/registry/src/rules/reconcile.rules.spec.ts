import type { ToolContractInput } from '#contracts';
import { sampleContract } from '../../testing/sample-contract.ts';
import { publishFaults } from '../check-publishable.ts';

type Reconcile = NonNullable<ToolContractInput['reconcile']>;
type Http = NonNullable<Reconcile['http']>;
const http: Http = {
  url: '${DESK_URL}/operations/{operationKey}',
  applied: { status: [200] },
  notApplied: { status: [404] },
};
const places = (change: Partial<ToolContractInput>): string[] =>
  publishFaults(sampleContract(change)).map(({ path, rule }) => `${path} ${rule}`);

describe('a contract that says how it can be asked afterwards', () => {
  it('is publishable, and needs no other reason for having no undo', () => {
    expect(places({ reconcile: { http, final: true }, noUndoReason: undefined })).toEqual([]);
  });

  it.each<[string, Partial<ToolContractInput>, string]>([
    ['a read', { layer: 'read', sideEffects: 'none', reconcile: { http } }, '/reconcile read'],
    [
      'final without an answer for it',
      { reconcile: { http: { ...http, notApplied: undefined }, final: true } },
      '/reconcile/final notApplied',
    ],
    ['no request for a tool that is not local', { reconcile: {} }, '/reconcile/http required'],
    [
      'partly without saying that it can be',
      { reconcile: { http: { ...http, partly: { status: [206] } } } },
      '/reconcile/partialEffect partly',
    ],
    [
      'two answers that are the same',
      { reconcile: { http: { ...http, notApplied: http.applied } } },
      '/reconcile/http distinct',
    ],
    [
      'an argument that is not there',
      { reconcile: { http: { ...http, url: '${DESK_URL}/{ticket}' } } },
      '/reconcile/http/url known',
    ],
    [
      'a host that an argument chooses',
      { reconcile: { http: { ...http, url: 'http://{severity}/x' } } },
      '/reconcile/http/url anyUrl',
    ],
    [
      'values without a place',
      { reconcile: { http: { ...http, applied: { values: [1] } } } },
      '/reconcile/http/applied/pointer required',
    ],
    ['pauses that shrink', { reconcile: { http, firstMs: 9, capMs: 1 } }, '/reconcile/capMs order'],
  ])('is refused: %s', (_what, change, fault) => {
    expect(places(change)).toContain(fault);
  });
});
