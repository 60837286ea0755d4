import { randomBytes } from 'node:crypto';
import { ask, type System } from './system.ts';

interface Answer {
  ok?: boolean;
  callId: string;
  error?: { code: string };
}
interface Sink {
  byKey: Record<string, { attempts: number; applied: number }>;
}

const WAIT = { prefer: 'wait=30' };
const task = (): string => `task-${randomBytes(6).toString('hex')}`;

/** What the driver of a run says about its course; the same in every mode. */
export function runControlSuite(system: () => System, sinkState: () => Sink): void {
  const post = <T>(path: string, body: object, headers: Record<string, string> = WAIT, person = 'alice') =>
    ask<T>(system(), person, 'POST', path, body, headers);
  const clientRun = async (taskId: string): Promise<string> =>
    (await post<{ runId: string }>('/v1/runs', { driver: 'client', taskId }, {})).body.runId;

  describe('dependsOn of a run that the client drives', () => {
    const read = { tool: 'probe.read_items', arguments: {}, providerCallId: 'read' };
    const write = (item: string, own: object) => ({ tool: 'probe.write_item', arguments: { item }, ...own });

    it('a write waits for what it names, and ends DEPENDENCY_FAILED without an attempt when that did not succeed (G9)', async () => {
      const id = task();
      const runId = await clientRun(id);
      const calls = [write('late', { dependsOn: ['read'] }), read];
      const { status, body } = await post<{ calls: Answer[] }>(`/v1/runs/${runId}/calls`, { calls });
      expect([status, body.calls.map(({ ok }) => ok)]).toEqual([200, [true, true]]);
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });

      const other = task();
      const second = await clientRun(other);
      const broken = { tool: 'probe.write_item', arguments: {}, providerCallId: 'broken' };
      const failing = { calls: [broken, write('never', { dependsOn: ['broken'] })] };
      const { body: answer } = await post<{ calls: Answer[] }>(`/v1/runs/${second}/calls`, failing);
      expect(answer.calls.map(({ error }) => error?.code)).toEqual(['INVALID_ARGS', 'DEPENDENCY_FAILED']);
      expect(sinkState().byKey[`dev/user:alice/${other}`]).toBeUndefined();
    });

    it('a circle and an unknown name are refused at their places, and nothing is taken', async () => {
      const runId = await clientRun(task());
      const circle = [
        write('a', { providerCallId: 'a', dependsOn: ['b'] }),
        write('b', { providerCallId: 'b', dependsOn: ['a', 'nobody'] }),
      ];
      const { status, body } = await post<{ code: string; details: { path: string }[] }>(`/v1/runs/${runId}/calls`, {
        calls: circle,
      });
      expect([status, body.code]).toEqual([400, 'INVALID_ARGS']);
      expect(body.details.map(({ path }) => path).sort()).toEqual([
        '/calls/0/dependsOn/0',
        '/calls/1/dependsOn/0',
        '/calls/1/dependsOn/1',
      ]);
      const { body: run } = await post<{ outcome: string; calls: unknown[] }>(`/v1/runs/${runId}/finish`, {});
      expect(run).toMatchObject({ status: 'completed', calls: [] });
    });
  });
}
