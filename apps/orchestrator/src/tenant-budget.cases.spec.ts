import type { MessageData } from '#contracts';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { loadCases } from '../../../test/cases/expand-case.ts';
import { openOrchestrator, OPENING_TOKENS, TenantRun, usedBy } from '../testing/tenant-rig.ts';

interface ProviderRequest {
  readonly run: string;
  readonly id: string;
  readonly usage: number;
}
type Step =
  ({ readonly do: 'provider_request' } & ProviderRequest) | { readonly do: 'parallel'; readonly steps: Step[] };
interface Given {
  readonly config: { readonly tenantBudgetTokens: number; readonly estimatePerRequest: number };
  readonly steps: readonly Step[];
  readonly variants: readonly { readonly name: string }[];
  readonly repeatTest: number;
}
type Bounds = number | { readonly min?: number; readonly max?: number };
interface Expected {
  readonly variants: Readonly<Record<string, { providerRequests: Bounds; spentTokens: Bounds }>>;
  readonly requestsNotSent: { of: string[]; min: number; code: string; theirRun: string; resumable: boolean };
}

const reserved = loadCases('budget').find(({ id }) => id === 'B053')!;
const given = reserved.given as unknown as Given;
const expected = reserved.expect as unknown as Expected;
const { tenantBudgetTokens, estimatePerRequest } = given.config;
const BUDGETS = { '*': { day: { tokens: tenantBudgetTokens }, answerTokens: estimatePerRequest - OPENING_TOKENS } };

const [lowest, highest] = [
  (bounds: Bounds) => (typeof bounds === 'number' ? bounds : (bounds.min ?? 0)),
  (bounds: Bounds) => (typeof bounds === 'number' ? bounds : (bounds.max ?? Infinity)),
];

describe(`${reserved.id}: ${reserved.title} (G8)`, () => {
  let replicas: ServiceHarness[];
  beforeAll(async () => {
    const first = await openOrchestrator(BUDGETS);
    replicas = [first, ...(await Promise.all([1, 2].map(() => openOrchestrator(BUDGETS, { url: first.url }))))];
  });
  afterAll(async () => {
    for (const replica of [...replicas].reverse()) await replica.close();
  });

  /** Drives one request by one process: sent or not, and how its run ended. */
  async function request(by: ServiceHarness, tenant: string, step: ProviderRequest) {
    const run = new TenantRun(tenant, step.run);
    await by.deliver('run.commands', run.start());
    const sent = () => by.published.filter(({ message: { runId } }) => runId === run.runId);
    const asked = sent().some(({ message: { type } }) => type === 'RequestTurn');
    await check(tenant);
    if (asked) await by.deliver('model.responses', run.answer(1, step.usage));
    await check(tenant);
    const end = sent().find(({ message: { type } }) => type === 'RunEnded')?.message.data as MessageData<'RunEnded'>;
    return { id: step.id, asked, end, view: await by.read<{ status: string }>('run', run.about()) };
  }
  const check = async (tenant: string) =>
    expect((await usedBy(replicas[0]!, tenant)).used).toBeLessThanOrEqual(tenantBudgetTokens);

  it.each(given.variants)(
    '$name',
    async ({ name }) => {
      for (let repetition = 0; repetition < given.repeatTest; repetition++) {
        const tenant = `${name}-${repetition}`;
        const processes = name === 'one-process' ? [replicas[0]!] : replicas;
        const play = async (step: Step, n: number): Promise<Awaited<ReturnType<typeof request>>[]> =>
          step.do === 'parallel'
            ? (await Promise.all(step.steps.map((inner, i) => play(inner, i)))).flat()
            : [await request(processes[n % processes.length]!, tenant, step)];
        const results: Awaited<ReturnType<typeof request>>[] = [];
        for (const [n, step] of given.steps.entries()) results.push(...(await play(step, n)));

        const { providerRequests, spentTokens } = expected.variants[name]!;
        const made = results.filter(({ asked }) => asked);
        const { used } = await usedBy(replicas[0]!, tenant);
        expect([made.length >= lowest(providerRequests), made.length <= highest(providerRequests)]).toEqual([
          true,
          true,
        ]);
        expect([used >= lowest(spentTokens), used <= highest(spentTokens)]).toEqual([true, true]);
        const usage = (step: Step): number[] => (step.do === 'parallel' ? step.steps.flatMap(usage) : [step.usage]);
        const real = given.steps.flatMap(usage).filter((_, i) => results[i]!.asked);
        expect(used).toBe(real.reduce((sum, tokens) => sum + tokens, 0));

        const refused = results.filter(({ asked }) => !asked);
        const { of, min, code, theirRun } = expected.requestsNotSent;
        expect(refused.length).toBeGreaterThanOrEqual(min);
        expect(refused.every(({ id }) => of.includes(id))).toBe(true);
        for (const { end, view } of refused) {
          expect(end).toMatchObject({ status: theirRun, cause: { code, tenant: { period: 'day', limit: 'tokens' } } });
          expect(view.status).toBe(theirRun);
        }
      }
    },
    120_000,
  );
});
