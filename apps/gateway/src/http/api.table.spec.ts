import { RequestMethod } from '@nestjs/common';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import { API } from './api.table.ts';

describe('the table of the API', () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await openGateway();
  });
  afterAll(() => gateway.close());

  /** As the decorators of the controllers say them. */
  const registered = (): string[] =>
    gateway.service.parts.controllers!.flatMap((controller) => {
      const prefix = Reflect.getMetadata('path', controller) as string;
      const handlers = Object.values(Object.getOwnPropertyDescriptors(controller.prototype as object)).map(
        ({ value }) => value as object,
      );
      return handlers
        .filter((handler) => Reflect.hasMetadata('method', handler))
        .map((handler) => {
          const method = RequestMethod[Reflect.getMetadata('method', handler) as number];
          const path = [prefix, Reflect.getMetadata('path', handler) as string]
            .flatMap((part) => part.split('/'))
            .filter((part) => part !== '')
            .map((part) => (part.startsWith(':') ? `{${part.slice(1)}}` : part));
          return `${method} /${path.join('/')}`;
        });
    });

  it('has exactly the routes that there are', () => {
    expect(registered().sort()).toEqual(API.map(({ method, path }) => `${method} ${path}`).sort());
    expect(new Set(API.map(({ operationId }) => operationId)).size).toBe(API.length);
  });

  it('each route asks for a credential and one of its roles, and only those that say so do not', async () => {
    for (const { method, path, roles, body } of API) {
      const url = path.replace(/\{\w+\}/g, 'x');
      const sent = body ? { body: {} } : {};
      const nobody = await gateway.request(method, url, { as: null, ...sent });
      expect([url, nobody.status]).toEqual([url, roles === 'public' ? 200 : 401]);
      const other = await gateway.request(method, url, { as: 'dev.dev.zoe.visitor', ...sent });
      if (Array.isArray(roles)) expect([url, other.status]).toEqual([url, 403]);
    }
  });

  it('each route refuses a query that it does not know, and names it', async () => {
    const as = 'dev.dev.ann.agent+operator+approver+auditor+tool-publisher';
    const named = expect.objectContaining({ path: '/nope', rule: 'unknownField' });
    for (const { path, query } of API.filter(({ query }) => query)) {
      const id = path.startsWith('/v1/calls') ? `call_${'0'.repeat(26)}_0001` : `run_${'0'.repeat(26)}`;
      const headers = path.endsWith('/events') ? { accept: 'text/event-stream' } : {};
      const url = `${path.replace('{id}', id).replace('{name}', 'desk.create_ticket')}?nope=1`;
      const answer = await gateway.request('GET', url, { as, headers });
      expect([path, query && answer]).toMatchObject([
        path,
        { status: 400, body: { code: 'INVALID_ARGS', details: expect.arrayContaining([named]) } },
      ]);
    }
  });
});
