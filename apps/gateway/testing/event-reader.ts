import http from 'node:http';

export interface ReadEvent {
  readonly id: string | undefined;
  readonly type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks into what it expects
  readonly data: any;
}

/** A reader of server-sent events over a real connection. */
export interface EventReader {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly events: readonly ReadEvent[];
  readonly comments: readonly string[];
  /** Of an answer that is no stream. */
  readonly text: string;
  readonly ended: boolean;
  close(): void;
}

export function readEvents(
  base: string,
  path: string,
  options: { readonly as?: string; readonly lastEventId?: string | undefined; readonly headers?: object } = {},
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${options.as ?? 'dev.dev.alice.agent'}`,
      ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
      ...options.headers,
    };
    const request = http.get(new URL(path, base), { headers, agent: false }, (response) => {
      const reader = {
        status: response.statusCode ?? 0,
        headers: response.headers,
        events: [] as ReadEvent[],
        comments: [] as string[],
        text: '',
        ended: false,
        close: () => void request.destroy(),
      };
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        reader.text += chunk;
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) takeBlock(block, reader);
      });
      response.on('close', () => (reader.ended = true));
      response.on('error', () => (reader.ended = true));
      resolve(reader);
    });
    request.on('error', reject);
  });
}

function takeBlock(block: string, reader: { events: ReadEvent[]; comments: string[] }): void {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  if (block.startsWith(':')) reader.comments.push(block.slice(1).trim());
  const type = field('event');
  if (type !== undefined) reader.events.push({ id: field('id'), type, data: JSON.parse(field('data') ?? 'null') });
}
