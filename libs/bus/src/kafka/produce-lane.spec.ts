import type { ProducerBatch } from 'kafkajs';
import { InfrastructureError } from '#kernel';
import { MAX_REQUEST_BYTES, MAX_REQUEST_MESSAGES, ProduceLane, type LaneMessage } from './produce-lane.ts';

const NOTHING: never[] = [];

/** A producer that keeps what it was asked to send; `answer` may throw or wait. */
function lane(answer: (values: string[]) => void | Promise<void> = () => undefined): {
  lane: ProduceLane;
  requests: string[][];
  inFlight: () => number;
} {
  const requests: string[][] = [];
  let now = 0;
  let most = 0;
  const sendBatch = async ({ topicMessages = [], acks }: ProducerBatch): Promise<never[]> => {
    expect(acks).toBe(-1);
    const values = topicMessages.flatMap(({ messages }) => messages.map(({ value }) => String(value)));
    requests.push(values);
    most = Math.max(most, ++now);
    try {
      await answer(values);
    } finally {
      now--;
    }
    return NOTHING;
  };
  return { lane: new ProduceLane({ sendBatch }), requests, inFlight: () => most };
}

const one = (value: string, topic = 't'): LaneMessage => ({ topic, key: 'k', value: Buffer.from(value) });
const many = (count: number, prefix = ''): LaneMessage[] =>
  Array.from({ length: count }, (_, n) => one(`${prefix}${n}`));
const protocolError = (type: string): Error => Object.assign(new Error(type), { type, retriable: false });

describe('the way out to the broker', () => {
  it('merges what one turn of the event loop publishes into one request (P1)', async () => {
    const { lane: out, requests } = lane();
    await Promise.all([out.publish([one('a')]), out.publish([one('b'), one('c', 'other')]), out.publish([])]);
    expect(requests).toEqual([['a', 'b', 'c']]);
  });

  it('has one request in flight; what comes meanwhile goes into the next, in order (P1, P2)', async () => {
    const first = Promise.withResolvers<void>();
    const { lane: out, requests, inFlight } = lane((values) => (values[0] === 'a' ? first.promise : undefined));
    const published = [out.publish([one('a')])];
    await new Promise((resolve) => setImmediate(resolve));
    published.push(out.publish([one('b')]), out.publish([one('c')]));
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toEqual([['a']]);
    first.resolve();
    await Promise.all(published);
    expect(requests).toEqual([['a'], ['b', 'c']]);
    expect(inFlight()).toBe(1);
  });

  it('caps a request in messages and in bytes (P3)', async () => {
    const { lane: out, requests } = lane();
    await out.publish(many(MAX_REQUEST_MESSAGES * 2 + 1));
    expect(requests.map((request) => request.length)).toEqual([MAX_REQUEST_MESSAGES, MAX_REQUEST_MESSAGES, 1]);
    requests.length = 0;
    const large = 'x'.repeat(MAX_REQUEST_BYTES / 3);
    await out.publish([one(large), one(large), one(large), one('y'.repeat(MAX_REQUEST_BYTES * 1.5)), one('z')]);
    expect(requests.map((request) => request.length)).toEqual([2, 1, 1, 1]);
  });

  it('a message that the broker refuses fails alone (P4)', async () => {
    const { lane: out, requests } = lane((values) => {
      if (values.includes('huge')) throw protocolError('MESSAGE_TOO_LARGE');
    });
    const outcomes = await Promise.allSettled([
      out.publish([one('a')]),
      out.publish([one('huge'), one('b')]),
      out.publish([one('c')]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((outcomes[1] as PromiseRejectedResult).reason).not.toBeInstanceOf(InfrastructureError);
    expect(requests.slice(1)).toEqual([['a'], ['huge'], ['b'], ['c']]);
    expect(out.healthy).toBe(true);
  });

  it('a broker that is away is an infrastructure error for every publisher, until it is back (P4)', async () => {
    let away = true;
    const { lane: out } = lane(() => {
      if (away) throw new Error('connection closed');
    });
    const outcomes = await Promise.allSettled([out.publish([one('a')]), out.publish([one('b')])]);
    expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason)).toEqual([
      expect.any(InfrastructureError),
      expect.any(InfrastructureError),
    ]);
    expect(out.healthy).toBe(false);
    away = false;
    await out.publish([one('c')]);
    expect(out.healthy).toBe(true);
  });
});
