import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import { buildOpenApi } from '../openapi/build-open-api.ts';
import { API } from './api.table.ts';

describe('GET /openapi.json', () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await openGateway();
  }, 120_000);
  afterAll(() => gateway.close());

  it('answers the document of the table of routes, in the version that runs, without a credential', async () => {
    const { status, headers, body } = await gateway.request('GET', '/openapi.json', { as: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    const version = await gateway.request('GET', '/version', { as: null });
    expect(body).toEqual(JSON.parse(JSON.stringify(buildOpenApi(API, version.body.version))));
  });
});
