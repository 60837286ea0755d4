import { randomBytes } from 'node:crypto';
import { grantedTopic, message, type Message, type MessageType } from '#contracts';
import { callIdOf, newId, runIdOfCall } from '#kernel';
import { generateSigningKey, importSigningKey, mintGrant } from '#grants';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { policySigningKey } from './policy-key.ts';
import { ask, type System } from './system.ts';

interface Result {
  ok: boolean;
  data?: { id: string; item: string };
  error?: { code: string; message: string; details?: { path: string; rule: string; allowed?: unknown[] }[] };
  callId: string;
  replayed?: boolean;
}
interface Approval {
  approvalId: string;
  callId: string;
  runId: string;
  digest: string;
  status: string;
  arguments: Record<string, unknown>;
}
interface CallView {
  callId: string;
  status: string;
  approvalId: string | null;
  replayed: boolean;
  effect: string;
  result: Result | null;
}
interface RunView {
  runId: string;
  status: string;
  outcome: string;
  answer: string | null;
  calls: { callId: string; tool: string; status: string; errorCode: string | null }[];
}
interface Sink {
  requests: number;
  byKey: Record<string, { attempts: number; applied: number }>;
}

const WAIT = { prefer: 'wait=30' };
const task = (): string => `task-${randomBytes(6).toString('hex')}`;

/** The promises of a governed call, asked through the HTTP API and checked in the source system; the same in every mode. */
export function governedCallSuite(open: () => Promise<System>, sinkState: () => Sink): void {
  let system: System;
  beforeAll(async () => {
    system = await open();
  }, 180_000);
  afterAll(() => system?.close(), 60_000);

  const direct = (
    tool: string,
    args: unknown,
    taskId?: string,
    person = 'alice',
    headers: Record<string, string> = WAIT,
  ) =>
    ask<Result>(system, person, 'POST', '/v1/calls', { tool, arguments: args, ...(taskId ? { taskId } : {}) }, headers);
  const view = async (callId: string): Promise<CallView> =>
    (await ask<CallView>(system, 'alice', 'GET', `/v1/calls/${callId}`)).body;
  const OPEN = ['accepted', 'proposed', 'granted', 'asked', 'allowed'];
  /** Views follow the settlement: the result may come a moment after the status. */
  const settledView = (callId: string): Promise<CallView> =>
    until(async () => {
      const found = await view(callId);
      return found.status && !OPEN.includes(found.status) && found.result ? found : null;
    });
  const pendingApproval = (callId: string): Promise<Approval> =>
    until(async () =>
      (await ask<{ items: Approval[] }>(system, 'bob', 'GET', '/v1/approvals?status=pending')).body.items.find(
        (a) => a.callId === callId,
      ),
    );
  const decide = (approval: Approval, decision: string, person = 'bob', digest = approval.digest) =>
    ask<Record<string, unknown>>(system, person, 'POST', `/v1/approvals/${approval.approvalId}/decision`, {
      decision,
      digest,
      reason: 'test',
    });
  const seen = <T extends MessageType>(type: T, callId: string): Message<T>[] =>
    system.seen
      .filter((s) => s.message.type === type && s.message.callId === callId)
      .map((s) => s.message as Message<T>);
  const audited = (callId: string, code: string): Promise<unknown> =>
    until(async () => {
      for (let after = ''; ;) {
        const page = await ask<{ items: { subject?: string; data: Record<string, unknown> }[]; next?: string | null }>(
          system,
          'alice',
          'GET',
          `/v1/audit?callId=${callId}&limit=100${after ? `&after=${after}` : ''}`,
          undefined,
          { authorization: 'Bearer dev.dev.dora.auditor' },
        );
        const hit = (page.body.items ?? []).find((e) => e.subject === callId && JSON.stringify(e.data).includes(code));
        if (hit) return hit;
        if (!page.body.next) return null;
        after = page.body.next;
      }
    });

  describe('a direct call', () => {
    it('a governed read and a governed write answer with their results; the effect is in the source system (G2)', async () => {
      const read = await direct('probe.read_items', {});
      expect(read.body).toMatchObject({ ok: true });
      const id = task();
      const write = await direct('probe.write_item', { item: 'a' }, id);
      expect(write.status).toBe(200);
      expect(write.body).toMatchObject({ ok: true, replayed: false, data: { item: 'a' } });
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });
    });

    it('an unknown tool is UNKNOWN_TOOL and reaches nobody', async () => {
      const before = sinkState().requests;
      const answer = await direct('probe.no_such_tool', {});
      expect(answer.body).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
      expect(sinkState().requests).toBe(before);
    });

    it.each([
      ['broken JSON', '{"item":', 'INVALID_JSON', ''],
      ['a duplicate key', '{"item":"a","item":"b"}', 'INVALID_JSON', '/item'],
      ['a missing argument', {}, 'INVALID_ARGS', '/item'],
      ['a value outside the enum', { item: 'a', size: 'xl' }, 'INVALID_ARGS', '/size'],
      ['an unknown argument', { item: 'a', colour: 'red' }, 'INVALID_ARGS', '/colour'],
      ['no object', '[1]', 'INVALID_ARGS', ''],
    ])('%s is refused with its place, and the executor is never called (G2)', async (_name, args, code, path) => {
      const before = sinkState().requests;
      const { body } = await direct('probe.write_item', args, task());
      expect(body).toMatchObject({ ok: false, error: { code } });
      expect(body.error!.details!.map((d) => d.path)).toContain(path);
      expect(sinkState().requests).toBe(before);
      expect(seen('CallGranted', body.callId)).toEqual([]);
    });

    it('a write whose key needs a task is IDEMPOTENCY_REQUIRED without one', async () => {
      const { body } = await direct('probe.write_item', { item: 'a' });
      expect(body).toMatchObject({ ok: false, error: { code: 'IDEMPOTENCY_REQUIRED' } });
    });

    it('the same key and arguments give the stored result, other arguments a conflict; one effect (G7)', async () => {
      const id = task();
      const first = await direct('probe.write_item', { item: 'k' }, id);
      const again = await direct('probe.write_item', { item: 'k' }, id);
      const other = await direct('probe.write_item', { item: 'other' }, id);
      expect(first.body).toMatchObject({ ok: true, replayed: false });
      expect(again.body).toMatchObject({ ok: true, replayed: true, data: first.body.data });
      expect(other.body).toMatchObject({ ok: false, error: { code: 'IDEMPOTENCY_CONFLICT' } });
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });
    });

    it('the same key from many callers at once is one effect (G7)', async () => {
      const id = task();
      const answers = await Promise.all(Array.from({ length: 8 }, () => direct('probe.write_item', { item: 'c' }, id)));
      for (const { body } of answers) expect(body).toMatchObject({ ok: true });
      expect(answers.filter(({ body }) => !body.replayed)).toHaveLength(1);
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });
    });

    it('an Idempotency-Key names the call: a repeat finds it, other content is refused', async () => {
      const id = task();
      const headers = { ...WAIT, 'idempotency-key': `"${id}"` };
      const first = await direct('probe.write_item', { item: 'i' }, id, 'alice', headers);
      const again = await direct('probe.write_item', { item: 'i' }, id, 'alice', headers);
      expect(again.body.callId).toBe(first.body.callId);
      const other = await direct('probe.write_item', { item: 'j' }, id, 'alice', headers);
      expect(other.status).toBe(422);
      expect(other.contentType).toContain('application/problem+json');
      expect(other.body).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    });

    it('another tenant cannot see the call, and its key does not collide (G12)', async () => {
      const id = task();
      const { body } = await direct('probe.write_item', { item: 't' }, id);
      const foreign = await ask(system, 'other/eve', 'GET', `/v1/calls/${body.callId}`);
      expect(foreign.status).toBe(404);
    });
  });

  describe('approval', () => {
    it('an unapproved write changes nothing; approved, it runs once as shown (G3)', async () => {
      const id = task();
      const key = `dev/user:alice/${id}:guarded`;
      const accepted = await direct('probe.guarded_write', { item: 'g' }, id, 'alice', {});
      expect(accepted.status).toBe(202);
      const approval = await pendingApproval(accepted.body.callId);
      expect(approval.arguments).toEqual({ item: 'g', size: 'm' });
      expect(sinkState().byKey[key]).toBeUndefined();
      expect((await decide(approval, 'approved')).status).toBe(200);
      expect(await settledView(accepted.body.callId)).toMatchObject({
        status: 'succeeded',
        effect: 'applied',
        approvalId: approval.approvalId,
      });
      expect(sinkState().byKey[key]).toEqual({ attempts: 1, applied: 1 });
    });

    it('a rejected write ends APPROVAL_DENIED and changes nothing', async () => {
      const id = task();
      const { body } = await direct('probe.guarded_write', { item: 'r' }, id, 'alice', {});
      await decide(await pendingApproval(body.callId), 'rejected');
      const settled = await settledView(body.callId);
      expect(settled).toMatchObject({
        status: 'denied',
        effect: 'none',
        result: { ok: false, error: { code: 'APPROVAL_DENIED' } },
      });
      expect(sinkState().byKey[`dev/user:alice/${id}:guarded`]).toBeUndefined();
    });

    it('a stale digest, an own request and a caller without the role decide nothing', async () => {
      const id = task();
      const { body } = await ask<Result>(system, 'mallory', 'POST', '/v1/calls', {
        tool: 'probe.guarded_write',
        arguments: { item: 'o' },
        taskId: id,
      });
      const approval = await pendingApproval(body.callId);
      expect((await decide(approval, 'approved', 'bob', `sha256:${'0'.repeat(64)}`)).status).toBe(409);
      expect((await decide(approval, 'approved', 'mallory')).status).toBe(403);
      expect((await decide(approval, 'approved', 'carol')).status).toBe(403);
      expect(sinkState().byKey[`dev/user:mallory/${id}:guarded`]).toBeUndefined();
      expect((await decide(approval, 'rejected')).status).toBe(200);
    });
  });

  describe('a grant on the bus (G2, G3)', () => {
    /** A call that policy holds for an approval: nobody has granted it. */
    const heldCall = async (): Promise<{ proposed: Message<'CallProposed'>; key: string }> => {
      const id = task();
      const { body } = await direct('probe.guarded_write', { item: 'held' }, id, 'alice', {});
      await pendingApproval(body.callId);
      const proposed = await until(() => seen('CallProposed', body.callId)[0]);
      return { proposed, key: `dev/user:alice/${id}:guarded` };
    };
    const grantFor = (
      proposed: Message<'CallProposed'>,
      key: Parameters<typeof mintGrant>[1],
      change: Partial<Parameters<typeof mintGrant>[0]> = {},
    ): Message<'CallGranted'> => {
      const now = Math.floor(Date.now() / 1000);
      const { origins: _origins, runDeadline: _deadline, ...bound } = proposed.data;
      const token = mintGrant(
        {
          jti: newId('dec'),
          tenant: proposed.tenant,
          runId: proposed.runId!,
          callId: proposed.callId!,
          principal: bound.principal.id,
          tool: bound.tool,
          contractDigest: bound.contractDigest,
          argsDigest: bound.argumentsDigest,
          resources: bound.resources,
          effectClass: bound.effectClass,
          operationKey: bound.operationKey,
          policyDigest: `sha256:${'a'.repeat(64)}`,
          decisionId: newId('dec'),
          decisionNo: 90,
          journalEpoch: 1,
          aud: bound.pool,
          iat: now,
          exp: now + 30,
          ...change,
        },
        key,
      );
      return message(
        'CallGranted',
        { tenant: proposed.tenant, runId: proposed.runId!, callId: proposed.callId!, now: Date.now() },
        { ...bound, decisionNo: 90, grant: token },
      );
    };
    const inject = (granted: Message<'CallGranted'>): Promise<void> => system.publish(grantedTopic('default'), granted);

    it('a forged one has no effect and no settlement, and is audited GRANT_INVALID', async () => {
      const { proposed, key } = await heldCall();
      await inject(grantFor(proposed, importSigningKey(generateSigningKey())));
      await audited(proposed.callId!, 'GRANT_INVALID');
      expect(seen('CallSettled', proposed.callId!)).toEqual([]);
      expect(sinkState().byKey[key]).toBeUndefined();
    });

    it('an expired one has no effect under it and is returned', async () => {
      const { proposed, key } = await heldCall();
      const signing = await policySigningKey(system.databaseUrl);
      const now = Math.floor(Date.now() / 1000);
      await inject(grantFor(proposed, signing, { iat: now - 100, exp: now - 50 }));
      const returned = await until(() => seen('GrantReturned', proposed.callId!)[0]);
      expect(returned.data.reason).toBe('GRANT_EXPIRED');
      expect(sinkState().byKey[key]).toBeUndefined();
    });

    it('arguments changed after the approval are refused', async () => {
      const id = task();
      const { body } = await direct('probe.guarded_write', { item: 'signed' }, id, 'alice', {});
      const proposed = await until(() => seen('CallProposed', body.callId)[0]);
      await pendingApproval(body.callId);
      const granted = grantFor(proposed, await policySigningKey(system.databaseUrl));
      await inject({
        ...granted,
        data: { ...granted.data, arguments: { item: 'changed', size: 'm' } },
      } as Message<'CallGranted'>);
      await audited(body.callId, 'GRANT_INVALID');
      expect(seen('CallSettled', body.callId)).toEqual([]);
      expect(sinkState().byKey[`dev/user:alice/${id}:guarded`]).toBeUndefined();
    });

    it('the same one again gives the stored record and no second effect; its jti for another call is GRANT_SPENT', async () => {
      const id = task();
      const { body } = await direct('probe.write_item', { item: 'spent' }, id);
      const granted = await until(() => seen('CallGranted', body.callId)[0]);
      // While its owner is still putting things away, a repeat is left to it: sent until the record answers.
      await until(async () => {
        await inject(granted);
        return seen('CallSettled', body.callId).length >= 2;
      });
      expect(new Set(seen('CallSettled', body.callId).map((m) => JSON.stringify(m.data))).size).toBe(1);
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });

      const { proposed, key } = await heldCall();
      const claims = JSON.parse(Buffer.from(granted.data.grant.split('.')[1]!, 'base64url').toString()) as {
        jti: string;
      };
      await inject(grantFor(proposed, await policySigningKey(system.databaseUrl), { jti: claims.jti }));
      await audited(proposed.callId!, 'GRANT_SPENT');
      expect(sinkState().byKey[key]).toBeUndefined();
    });

    it('one for a call that nobody proposed has no effect', async () => {
      const { proposed } = await heldCall();
      const stranger = callIdOf(newId('run'), 7);
      const before = sinkState().requests;
      await inject({
        ...grantFor(proposed, await policySigningKey(system.databaseUrl)),
        callId: stranger,
        runId: runIdOfCall(stranger),
      } as Message<'CallGranted'>);
      await audited(stranger, 'GRANT_INVALID');
      expect(sinkState().requests).toBe(before);
    });
  });

  describe('an agent task (incident triage)', () => {
    it('two parallel reads, a countersigned write, an honest end, one ticket (G1, G2, G9)', async () => {
      const id = task();
      const started = await ask<{ runId: string }>(system, 'alice', 'POST', '/v1/runs', {
        agent: 'incident-triage',
        input: 'checkout is failing',
        taskId: id,
      });
      expect(started.status).toBe(202);
      const { runId } = started.body;
      expect((await ask<RunView>(system, 'alice', 'GET', `/v1/runs/${runId}`)).status).toBe(200);
      const approval = await until(async () =>
        (await ask<{ items: Approval[] }>(system, 'bob', 'GET', '/v1/approvals?status=pending')).body.items.find(
          (a) => a.runId === runId,
        ),
      );
      await decide(approval, 'approved');
      const run = await until(async () => {
        const { body } = await ask<RunView>(system, 'alice', 'GET', `/v1/runs/${runId}`);
        const ended = body.status === 'completed' || body.status === 'failed';
        return ended && body.calls.every((call) => !OPEN.includes(call.status)) ? body : null;
      });
      expect(run).toMatchObject({ status: 'completed', outcome: 'all_succeeded' });
      expect(run.answer).toBeTruthy();
      expect(run.calls.map((c) => [c.tool.split('@')[0], c.status])).toEqual([
        ['incidents.read_recent_alerts', 'succeeded'],
        ['incidents.search_runbook', 'succeeded'],
        ['incidents.create_incident_ticket', 'succeeded'],
      ]);
      const tickets = (await (await fetch(new URL('/tickets', system.incidentsUrl))).json()) as
        { items?: unknown[] } | unknown[];
      const all = JSON.stringify(tickets);
      expect(all.split(id).length - 1).toBeGreaterThanOrEqual(1);
    });
  });

  it('every call has exactly one settlement, whatever was repeated (G11)', () => {
    const byCall = new Map<string, Set<string>>();
    for (const { message: m } of system.seen) {
      if (m.type === 'CallSettled')
        byCall.set(m.callId!, (byCall.get(m.callId!) ?? new Set()).add(JSON.stringify(m.data)));
    }
    expect(byCall.size).toBeGreaterThan(10);
    for (const settlements of byCall.values()) expect(settlements.size).toBe(1);
  });
}
