import { createLocks, type LockPort } from '#locks';
import { Database, Outbox } from '#persistence';
import { freshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { claimDueOutgoing } from '../../libs/persistence/src/outbox/claim-due-outgoing.query.ts';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { answered, grant, openExecutor, tool, type Executor } from '../../apps/executor/testing/executor-rig.ts';
import type { RunOutcome } from '../../apps/executor/src/domain/tool-runner.port.ts';
import { nameResources } from '../../apps/orchestrator/src/domain/name-effects.ts';
import type { OutgoingMessage } from '#contracts';
import { planText } from '../e2e/plan.script.ts';
import { ask } from '../e2e/system.ts';
import { loadCases, type Case } from './expand-case.ts';
import { editContract, EditedFiles, openFileWorld, type Edit } from './file-world.ts';

interface Turn {
  readonly run: string;
  readonly body: { readonly content: readonly { readonly id: string; readonly input: Edit }[] };
}
interface Variant {
  readonly name: string;
  readonly runs: readonly Turn[];
}
interface DeclaredTool {
  readonly input: Record<string, unknown>;
  readonly resources: string[];
}
interface Wanted {
  readonly calls: readonly { callId: string; outcome: string }[];
  readonly order?: readonly string[];
  readonly neverOverlap?: readonly string[];
  readonly state: { readonly files: Record<string, string> };
}

const cases = new Map(loadCases('durability').map((one) => [one.id, one]));
const filesOf = (one: Case) => (one.given.state as { files: Record<string, string> }).files;
const variantOf = (one: Case, name: string) => ({
  given: (one.given.variants as Variant[]).find((variant) => variant.name === name)!,
  wanted: (one.expect.variants as Record<string, Wanted>)[name]!,
});
const editsOf = (runs: readonly Turn[]) => new Map(runs.flatMap((run) => run.body.content.map((c) => [c.id, c.input])));

describe('cases: durability', () => {
  it('every case is asked here', () => {
    expect([...cases.keys()]).toEqual(['B042', 'B069']);
  });

  it('B042 (one turn): two edits of one file in one turn are done in their order, and both are there', async () => {
    const one = cases.get('B042')!;
    const [{ input, resources }] = one.given.tools as [DeclaredTool];
    const { given, wanted } = variantOf(one, 'one-turn');
    const edits = editsOf(given.runs);
    const world = await openFileWorld(input, resources);
    try {
      for (let round = 0; round < (one.given.repeatTest as number); round++) {
        const files = new EditedFiles(filesOf(one));
        world.use(files);
        const turn = [...edits.values()].map((args) => ({ tool: 'cases.edit_file', arguments: args }));
        const body = { agent: 'cases', input: planText({ turns: [turn] }) };
        const { runId } = (await ask<{ runId: string }>(world.system, 'alice', 'POST', '/v1/runs', body)).body;
        const run = await until(async () => {
          const { body: view } = await ask<{ status: string; calls: { status: string }[] }>(
            world.system,
            'alice',
            'GET',
            `/v1/runs/${runId}`,
          );
          return view.status === 'completed' ? view : null;
        });
        expect(run.calls.map((call) => call.status)).toEqual(wanted.calls.map((call) => call.outcome));
        expect(files.executed).toEqual(wanted.order!.map((id) => edits.get(id)));
        expect(files.files).toEqual({ ...filesOf(one), ...wanted.state.files });
        expect(files.overlaps).toEqual([]);
      }
    } finally {
      await world.close();
    }
  }, 120_000);

  it.each(['the waiting room', 'the holds alone'])(
    'B042 (three runs, two executors, %s): edits of one file never overlap, and all are there',
    async (by) => {
      const one = cases.get('B042')!;
      const [{ input, resources: templates }] = one.given.tools as [DeclaredTool];
      const { given, wanted } = variantOf(one, 'three-runs-two-executors');
      const edits = editsOf(given.runs);
      const fresh = await freshDatabase();
      const databases: Database[] = [];
      let files!: EditedFiles;
      const run = async ({ arguments: args }: { arguments: unknown }): Promise<RunOutcome> => {
        await files.edit(args as Edit);
        return answered({ done: true });
      };
      const start = async (): Promise<Executor> => {
        if (by === 'the holds alone') return openExecutor({ url: fresh.url, run });
        const database = new Database({ url: fresh.url, schema: 'locks' });
        databases.push(database);
        return openExecutor({ url: fresh.url, run, locks: await createLocks({ kind: 'postgres', database }) });
      };
      const executors = [await start(), await start()] as const;
      try {
        const of = tool(editContract(input, templates, { kind: 'local' }));
        for (let round = 0; round < (one.given.repeatTest as number); round++) {
          files = new EditedFiles(filesOf(one));
          const granted = wanted.calls.map(({ callId }) => {
            const args = { ...edits.get(callId)! };
            const named = nameResources(of.contract, args);
            return grant({ of, args, resources: named.ok ? named.value : [] });
          });
          await Promise.all(granted.map((g, i) => executors[(i + round) % 2]!.deliverGrants(g)));
          const settled = await Promise.all(
            granted.map(({ callId }) => until(() => executors.flatMap((e) => e.settlements(callId!))[0])),
          );
          expect(settled.map(({ status }) => status)).toEqual(wanted.calls.map((call) => call.outcome));
          const serial = wanted.neverOverlap!.map((id) => JSON.stringify(edits.get(id)));
          const bad = files.overlaps.filter((pair) => pair.every((edit) => serial.includes(JSON.stringify(edit))));
          expect(bad).toEqual([]);
          expect(files.executed).toHaveLength(wanted.calls.length);
          expect(files.files).toEqual(wanted.state.files);
        }
      } finally {
        for (const executor of executors) await executor.close();
        for (const database of databases) await database.close();
        await fresh.drop();
      }
    },
    120_000,
  );

  it('B069: what a dead worker held is taken up by time alone; what may have been sent is unknown, never repeated', async () => {
    const one = cases.get('B069')!;
    const { leaseMs } = one.given.config as { leaseMs: number };
    const env = { COUNTERSIGN_LEASE_MS: String(600_000) };
    let answer!: (outcome: RunOutcome) => void;
    // It stops where it stands: what waits for its turn never wakes up.
    const held = { lost: new AbortController().signal, release: () => Promise.resolve() };
    let taken = false;
    const locks: LockPort = {
      acquire: ({ waitMs }) => {
        if (waitMs > 0) return new Promise(() => undefined);
        const answer = taken ? ({ kind: 'busy' } as const) : ({ kind: 'held', handle: held } as const);
        taken = true;
        return Promise.resolve(answer);
      },
      healthy: () => true,
      close: () => Promise.resolve(),
    };
    const run = () => new Promise<RunOutcome>((resolve) => (answer = resolve));
    const w1 = await openExecutor({ workers: false, env, locks, run });
    const { database } = w1;
    /** The database's clock goes on: what it judges by lies further back. */
    const advance = async (ms: number): Promise<void> => {
      const back = `$1 * interval '1 millisecond'`;
      await database.change({ text: `update call set lease_until = lease_until - ${back}`, values: [ms] });
      await database.change({
        text: `update outgoing set next_at = next_at - ${back}, created_at = created_at - ${back}`,
        values: [ms],
      });
    };
    const note = (callId: string): OutgoingMessage => {
      const { raw } = w1.published.find(({ message }) => message.callId === callId)!;
      return raw;
    };
    const of = tool({ idempotency: { mode: 'none' }, concurrency: 'exclusive', name: 'issue_voucher' });
    const now = Math.floor(Date.now() / 1000);

    // Two messages stand in the outbox; w1 claims the first one and dies with it.
    const outbox = new Outbox({ database, publish: () => Promise.resolve(), onError: () => undefined });
    const stale = { claims: { iat: now - 60, exp: now - 10 } };
    const [c1, c2] = [grant(stale), grant(stale)];
    await w1.deliverGrants(c1, c2);
    await database.transaction((tx) => outbox.append(tx, [note(c1.callId!)]));
    expect(await claimDueOutgoing(database, 8, true)).toHaveLength(1);
    // ef2: intent recorded, request sent; ef1: claimed behind it, without an intent.
    const [ef1, ef2] = [grant({ of, claims: { iat: now - 40, exp: now + 2 } }), grant({ of })];
    await w1.deliverGrants(ef2);
    await until(() => w1.attempts.length === 1);
    await w1.deliverGrants(ef1);
    await advance(600_000);
    await database.transaction((tx) => outbox.append(tx, [note(c2.callId!)]));
    const ours = [c1.callId!, c2.callId!];
    const standing = async (keys = ours) =>
      (
        await database.query<{ attempts: number }>({
          text: 'select attempts from outgoing where keys[1] = any ($1) order by id',
          values: [keys],
        })
      ).map((row) => row.attempts);
    expect(await standing()).toEqual([1, 0]);
    await advance(leaseMs - 600_000 + 60_000);
    await until(() => Date.now() > (now + 2) * 1000);

    const w2 = await openExecutor({ url: w1.url, env });
    const published: string[] = [];
    const claimed: number[] = [];
    const relay = new Outbox({
      database: w2.database,
      publish: async (messages) => {
        published.push(...messages.map((m) => m.key!));
        const { key } = messages[0]!;
        if (ours.includes(key!)) claimed.push(...(await standing([key!])));
      },
      onError: () => undefined,
    });
    await relay.sweep();
    await relay.drain();
    const { ox1, ox2 } = one.expect.outbox as Record<'ox1' | 'ox2', { attempts: number }>;
    expect(claimed).toEqual([ox1.attempts, ox2.attempts]);
    expect(published.filter((key) => ours.includes(key))).toEqual(ours);
    expect(await standing()).toEqual([]);
    expect(await w2.settlement(ef2.callId!)).toMatchObject({
      status: 'outcome_unknown',
      error: { code: 'OUTCOME_UNKNOWN' },
      attempts: 1,
    });
    await until(() => w2.messagesOf('GrantReturned').find(({ callId }) => callId === ef1.callId));
    // The unknown one keeps the tool's one place until a person says what came of it.
    await w2.database.change({ text: 'update resource_hold set holder = null' });
    await w2.deliverGrants(grant({ of, callId: ef1.callId!, operationKey: ef1.data.operationKey, decisionNo: 2 }));
    expect(await w2.settlement(ef1.callId!)).toMatchObject({ status: 'succeeded' });
    expect([...w1.attempts, ...w2.attempts].map(({ callId }) => callId)).toEqual([ef2.callId, ef1.callId]);

    answer(answered({ late: true }));
    await until(async () => (await database.query({ text: 'select from reconciliation_evidence' })).length === 1);
    expect(w1.settlements(ef2.callId!)).toEqual([]);
    expect(w2.settlements(ef2.callId!)).toHaveLength(1);
    await w2.close();
    await w1.close();
  }, 60_000);
});
