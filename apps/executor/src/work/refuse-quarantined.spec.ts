import type { QuarantineList } from '#registry';
import { tool } from '../../testing/executor-rig.ts';
import type { RunRequest, ToolRunner } from '../domain/tool-runner.port.ts';
import { refuseQuarantined } from './refuse-quarantined.ts';

it('a call that waited while its tool was quarantined is not sent, and says that nothing happened (G9)', async () => {
  let runs = 0;
  const runner = { run: () => Promise.resolve(void runs++) } as unknown as ToolRunner;
  const stopped = new Set<string>();
  const list: Pick<QuarantineList, 'has'> = { has: (tenant, name) => stopped.has(`${tenant} ${name}`) };
  const request = { contract: tool().contract, tenant: 'acme' } as unknown as RunRequest;
  const guarded = refuseQuarantined(runner, list);
  await guarded.run(request);
  expect(runs).toBe(1);
  stopped.add('acme desk.create_ticket@1.0.0');
  expect(await guarded.run(request)).toMatchObject({
    kind: 'failed',
    sent: 'not_sent',
    noEffect: true,
    error: { code: 'PERMISSION_DENIED', retryable: false },
  });
  expect(runs).toBe(1);
});
