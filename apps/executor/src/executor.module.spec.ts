import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { grantedTopic } from '#contracts';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { foreignKey, grant, publicKey, tool } from '../testing/executor-rig.ts';
import { toolEnvironment } from './executor.config.ts';
import { executorDoor } from './executor.module.ts';

describe('the executor behind its door', () => {
  const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
  let server: Server;
  let port = 0;
  let executor: ServiceHarness;
  const contracts = new Map<string, unknown>();
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        seen.push({ headers: request.headers, body });
        response.setHeader('content-type', 'application/json').end('{"id":"T-9"}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    executor = await openService(executorDoor, {
      reads: {
        'policy.publicKeys': () => ({ keys: [publicKey] }),
        'gateway.contract': ({ digest }: { digest: string }) =>
          contracts.has(digest) ? { digest, contract: contracts.get(digest) } : null,
      },
    });
    await executor.startWorkers();
  });
  afterAll(async () => {
    await executor.close();
    server.close();
  });
  const httpTool = () => {
    const of = tool({
      execution: { kind: 'http', method: 'POST', url: `http://127.0.0.1:${port}/tickets` },
      timeoutMs: 5000,
    });
    contracts.set(of.digest, of.contract);
    return of;
  };

  it('runs an HTTP tool with the operation key, and settles with the views of its answer', async () => {
    const granted = grant({ of: httpTool() });
    await executor.deliver(grantedTopic('default'), granted);
    const settled = await until(() => executor.published.find((p) => p.message.type === 'CallSettled'));
    expect(settled.message.data).toMatchObject({
      status: 'succeeded',
      effect: 'applied',
      result: { sanitized: { id: 'T-9' }, fault: null },
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]!.headers['idempotency-key']).toBe(granted.data.operationKey);
    expect(JSON.parse(seen[0]!.body)).toEqual({ summary: 'down' });
  });

  it('G2 a key that policy does not publish refuses', async () => {
    await executor.deliver(grantedTopic('default'), grant({ of: httpTool(), signWith: foreignKey }));
    expect(executor.published.at(-1)!.message).toMatchObject({ type: 'GrantRefused', data: { code: 'GRANT_INVALID' } });
    expect(seen).toHaveLength(1);
  });

  it('a contract that is not published sends the grant back', async () => {
    await executor.deliver(grantedTopic('default'), grant({ of: tool({ name: 'unpublished_tool' }) }));
    expect(executor.published.at(-1)!.message).toMatchObject({
      type: 'GrantReturned',
      data: { reason: 'CONTRACT_CHANGED' },
    });
  });

  it('tools see only the environment that contracts or the operator name, and no setting of ours', () => {
    const { contract } = tool({ execution: { kind: 'http', method: 'POST', url: '${TICKETS_URL}/x' } });
    const env = { TICKETS_URL: 'http://a', SECRET: 's', LISTED: 'l', COUNTERSIGN_DATABASE_URL: 'd' };
    expect(
      toolEnvironment([contract], { COUNTERSIGN_TOOL_ENV: ['LISTED', 'COUNTERSIGN_DATABASE_URL', 'MISSING'] }, env),
    ).toEqual({
      TICKETS_URL: 'http://a',
      LISTED: 'l',
    });
  });
});
