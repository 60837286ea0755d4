import { readEvents } from './read-events.ts';

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('server-sent events', () => {
  it('come whole, however the bytes are cut; comments and empty events are passed over', async () => {
    const stream =
      ': hello\n\nid: 1\nevent: run.started\ndata: {"a":\ndata: 1}\n\nevent: ping\n\nid: 2\r\ndata: 查询\r\n\r\n';
    const bytes = Buffer.from(stream);
    const seen = [];
    for await (const event of readEvents(
      (async function* () {
        for (const byte of bytes) yield Uint8Array.of(byte);
      })(),
    ))
      seen.push(event);
    expect(seen).toEqual([
      { id: '1', event: 'run.started', data: '{"a":\n1}' },
      { id: '2', event: 'message', data: '查询' },
    ]);
  });

  it('an event that was not finished is none', async () => {
    const seen = [];
    for await (const event of readEvents(chunks('data: a\n\ndata: b\n'))) seen.push(event.data);
    expect(seen).toEqual(['a']);
  });
});
