import { createRequire } from 'node:module';
import { jest } from '@jest/globals';
import { mendRequestQueue, type RequestQueue } from './request-queue.ts';

const load = createRequire(import.meta.url);
interface Pushed {
  entry: { correlationId: number };
  expectResponse: boolean;
  sendRequest(): void;
}
type Queue = RequestQueue & {
  push(request: Pushed): void;
  fulfillRequest(response: { correlationId: number; payload: null; size: number }): void;
  maybeThrottle(ms: number): void;
};
const Kafkajs = load('kafkajs/src/network/requestQueue/index.js') as new (options: object) => Queue;

const logger = { debug: () => undefined, warn: () => undefined };
const sent: number[] = [];
const queueOf = (limits: object): Queue =>
  new Kafkajs({ requestTimeout: 5_000, enforceRequestTimeout: true, clientId: 'c', broker: 'b', logger, ...limits });
const request = (correlationId: number): Pushed => ({
  entry: { correlationId, reject: () => undefined, resolve: () => undefined } as never,
  expectResponse: true,
  sendRequest: () => void sent.push(correlationId),
});
const answer = (correlationId: number) => ({ correlationId, payload: null, size: 0 });

describe("the request queue of kafkajs' connections", () => {
  beforeAll(() => mendRequestQueue());
  beforeEach(() => {
    sent.length = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  it('sets no timer when an answer leaves nothing to do', () => {
    const queue = queueOf({});
    queue.push(request(1));
    queue.fulfillRequest(answer(1));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('sends a request over the limit in flight when one of those is answered', () => {
    const queue = queueOf({ maxInFlightRequests: 1 });
    queue.push(request(1));
    queue.push(request(2));
    expect(sent).toEqual([1]);
    queue.fulfillRequest(answer(1));
    expect(sent).toEqual([1, 2]);
  });

  it('sends throttled requests when the throttling is over', () => {
    const queue = queueOf({});
    queue.maybeThrottle(300);
    queue.push(request(1));
    expect(sent).toEqual([]);
    jest.advanceTimersByTime(301);
    expect(sent).toEqual([1]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('still gives up a request that is not answered in time', () => {
    const late: unknown[] = [];
    const queue = queueOf({ instrumentationEmitter: null });
    queue.scheduleRequestTimeoutCheck();
    const pushed = request(1);
    (pushed.entry as { reject?: (error: unknown) => void }).reject = (error) => void late.push(error);
    queue.push(pushed);
    jest.advanceTimersByTime(7_000);
    expect(late).toHaveLength(1);
    queue.destroy();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('refuses a version of kafkajs that it does not know', () => {
    expect(() => mendRequestQueue({} as RequestQueue)).toThrow(/has no destroy/);
  });
});
