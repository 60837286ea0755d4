import { Controller, Get, Inject } from '@nestjs/common';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import type { GatewayIntake } from '../gateway-intake.ts';
import { INTAKE } from './tokens.ts';

@Controller('bench')
class ExtraController {
  readonly #intake: GatewayIntake;
  constructor(@Inject(INTAKE) intake: GatewayIntake) {
    this.#intake = intake;
  }
  @Get()
  look(): object {
    return { intake: typeof this.#intake.call };
  }
}

describe('what operators, auditors and tools ask', () => {
  let gateway: HttpGateway;
  const asked: unknown[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      controllers: [ExtraController],
      reads: {
        'telemetry.audit': (args: never) => {
          asked.push(args);
          return { items: [{ id: 'evt_1' }], next: '7' };
        },
      },
    });
  });
  afterAll(() => gateway.close());

  it('the audit is read page by page, of the own tenant, by operators and auditors', async () => {
    const answer = await gateway.request('GET', '/v1/audit?after=0.3,2.7&limit=1', { as: 'dev.acme.ann.auditor' });
    expect(answer).toMatchObject({ status: 200, body: { items: [{ id: 'evt_1' }], next: '7' } });
    expect(asked).toEqual([{ tenant: 'acme', after: '0.3,2.7', limit: 1 }]);
    expect((await gateway.request('GET', '/v1/audit')).status).toBe(403);
    expect((await gateway.request('GET', '/v1/audit?after=x', { as: 'dev.dev.ann.auditor' })).status).toBe(400);
  });

  it("the tools of the workspaces are listed for the workspaces' tenant alone (G12)", async () => {
    const { body } = await gateway.request('GET', '/v1/tools');
    expect(body.items).toEqual([
      expect.objectContaining({
        tool: 'desk.create_ticket',
        version: '1.0.0',
        modelName: 'desk__create_ticket',
        risk: 'low',
        digest: expect.stringMatching(/^sha256:/),
      }),
    ]);
    expect(body.items[0]).not.toHaveProperty('execution');
    expect((await gateway.request('GET', '/v1/tools', { as: 'dev.other.alice.agent' })).body.items).toEqual([]);
  });

  it('other services read contracts by digest and tools by tenant', async () => {
    const { service } = gateway;
    const [published] = await service.read<{ digest: string; contract: object }[]>('tools', { tenant: 'dev' });
    expect(await service.read('contract', { digest: published!.digest })).toEqual(published);
    expect(await service.read('contract', { digest: `sha256:${'0'.repeat(64)}` })).toBeNull();
    await expect(service.read('contract', {})).rejects.toMatchObject({ code: 'INVALID_ARGS' });
  });

  it('the version needs no credential', async () => {
    expect(await gateway.request('GET', '/version', { as: null })).toMatchObject({
      status: 200,
      body: { name: 'countersign', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    });
  });

  it('further controllers of an installation may use the intake', async () => {
    expect((await gateway.request('GET', '/bench')).body).toEqual({ intake: 'function' });
  });
});
