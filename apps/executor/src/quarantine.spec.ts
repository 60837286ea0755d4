import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { grantedTopic } from '#contracts';
import { InfrastructureError } from '#kernel';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { grant, publicKey, tool } from '../testing/executor-rig.ts';
import { executorDoor } from './executor.module.ts';

describe('a quarantined tool at the executor', () => {
  let server: Server;
  let executor: ServiceHarness;
  let sent = 0;
  let quarantined: () => unknown;
  const of = () =>
    tool({
      execution: {
        kind: 'http',
        method: 'POST',
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tickets`,
      },
      timeoutMs: 5000,
    });
  beforeAll(async () => {
    server = createServer((request, response) => {
      sent++;
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    sent = 0;
    quarantined = () => [];
    executor = await openService(executorDoor, {
      reads: {
        'policy.publicKeys': () => ({ keys: [publicKey] }),
        'gateway.contract': ({ digest }: { digest: string }) => ({ digest, contract: of().contract }),
        'gateway.quarantined': () => quarantined(),
      },
    });
  });
  afterEach(() => executor.close());

  it('a good grant for it is given back, and nothing is sent', async () => {
    const granted = grant({ of: of() });
    quarantined = () => [{ tenant: granted.tenant, tool: 'desk.create_ticket', version: '1.0.0' }];
    await executor.deliver(grantedTopic('default'), granted);
    expect(executor.published.at(-1)!.message).toMatchObject({
      type: 'GrantReturned',
      data: { reason: 'CONTRACT_CHANGED' },
    });
    expect(sent).toBe(0);
  });

  it('of a suspended tenant every grant is given back, and nothing is sent; another tenant’s runs', async () => {
    const granted = grant({ of: of() });
    quarantined = () => [{ tenant: granted.tenant, tool: '*', version: '' }];
    await executor.deliver(grantedTopic('default'), granted);
    expect(executor.published.at(-1)!.message.type).toBe('GrantReturned');
    expect(sent).toBe(0);
    quarantined = () => [{ tenant: 'another', tool: '*', version: '' }];
    await executor.deliver(grantedTopic('default'), grant({ of: of() }));
    await until(() => executor.published.find((p) => p.message.type === 'CallSettled'));
    expect(sent).toBe(1);
  });

  it('released, it runs, though the list that is known here still names it', async () => {
    quarantined = () => [{ tenant: grant({ of: of() }).tenant, tool: 'desk.create_ticket', version: '1.0.0' }];
    await executor.deliver(grantedTopic('default'), grant({ of: of() }));
    expect(sent).toBe(0);
    quarantined = () => [];
    await executor.deliver(grantedTopic('default'), grant({ of: of() }));
    await until(() => executor.published.find((p) => p.message.type === 'CallSettled'));
    expect(sent).toBe(1);
  });

  it('G13 while the list cannot be read the call is held, and runs when it can', async () => {
    const granted = grant({ of: of() });
    quarantined = () => {
      throw new InfrastructureError('away');
    };
    await expect(executor.deliver(grantedTopic('default'), granted)).rejects.toThrow('away');
    expect([sent, executor.published]).toEqual([0, []]);
    quarantined = () => [];
    await executor.startWorkers();
    await executor.deliver(grantedTopic('default'), granted);
    const settled = await until(() => executor.published.find((p) => p.message.type === 'CallSettled'));
    expect(settled.message.data).toMatchObject({ status: 'succeeded' });
    expect(sent).toBe(1);
  });
});
