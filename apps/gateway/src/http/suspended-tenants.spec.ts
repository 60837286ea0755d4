import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { newId } from '#kernel';
import { until } from '../../../../libs/runtime/testing/service-harness.ts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import { readSuspendedTenants } from '../adapters/suspended-tenants.ts';

describe('a suspended tenant over HTTP', () => {
  let folder: string;
  let file: string;
  let gateway: HttpGateway;
  let base: string;
  const ask = async (method: string, url: string, body?: object) => {
    const response = await fetch(new URL(url, base), {
      method,
      headers: { authorization: 'Bearer dev.dev.alice.agent+approver+operator', 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: (await response.json()) as { code?: string; detail?: string } };
  };
  const call = { tool: 'desk.create_ticket', arguments: { summary: 'x' } };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-suspended-'));
    file = path.join(folder, 'suspended.txt');
    writeFileSync(file, '# nobody\n');
    gateway = await openGateway({ env: { COUNTERSIGN_SUSPENDED_TENANTS: file } });
    await gateway.service.startWorkers();
    await gateway.app.listen(0, '127.0.0.1');
    base = await gateway.app.getUrl();
  });
  afterAll(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('begins nothing new, and is told why; reads and what ends work go on; lifted, all of it does', async () => {
    expect((await ask('POST', '/v1/calls', call)).status).toBe(202);
    writeFileSync(file, 'other\ndev # unpaid\n');
    const refused = await until(async () => {
      const answer = await ask('POST', '/v1/calls', call);
      return answer.status === 403 && answer;
    });
    expect(refused).toMatchObject({ body: { code: 'PERMISSION_DENIED' } });
    expect(JSON.stringify(refused)).toContain('The tenant is suspended');
    for (const url of ['/v1/runs', `/v1/runs/${newId('run')}/resume`, `/v1/approvals/${newId('appr')}/decision`])
      expect((await ask('POST', url, {})).status).toBe(403);
    expect((await ask('GET', '/v1/tools')).status).toBe(200);
    for (const url of [`/v1/runs/${newId('run')}/cancel`, `/v1/approvals/${newId('appr')}/withdraw`])
      expect((await ask('POST', url, {})).body.detail ?? '').not.toContain('suspended');
    writeFileSync(file, 'other\n');
    await until(async () => (await ask('POST', '/v1/calls', call)).status === 202);
  });

  it('a file with something else in it is refused with each line', async () => {
    const wrong = path.join(folder, 'wrong.txt');
    writeFileSync(wrong, 'dev\nNot a tenant\n*\n');
    await expect(readSuspendedTenants(wrong)).rejects.toThrow(/line 2 is not.*line 3 is not/);
    await expect(readSuspendedTenants(`${wrong}.none`)).rejects.toThrow(/ENOENT/);
  });
});
