import { readFileSync } from 'node:fs';
import { recorder, started, until, type BusHarness, type RawRecord } from './bus-harness.ts';
import { sampleValue, unique } from './sample-messages.ts';

/** The kinds of test/cases/kafka.jsonl. */
interface CaseRecord {
  readonly offset: number;
  readonly key?: string;
  readonly keyBase64?: string;
  readonly valueText?: string;
  readonly valueBase64?: string;
}
interface KafkaCase {
  readonly id: string;
  readonly title: string;
  readonly given: { readonly config?: { readonly maxAttempts: number }; readonly records: readonly CaseRecord[] };
  readonly expect: {
    readonly deadLetter?: readonly {
      readonly offset: number;
      readonly code?: string;
      readonly handlerAttempts: number;
    }[];
    readonly outcomes?: readonly { readonly offset: number; readonly outcome?: string; readonly code?: string }[];
    readonly processed?: readonly number[];
  };
}

const FILE = new URL('../../../test/cases/kafka.jsonl', import.meta.url);
const DEFAULT_MAX_ATTEMPTS = 3;

function loadCase(id: string): KafkaCase {
  const cases = readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as KafkaCase);
  const found = cases.find((one) => one.id === id);
  if (!found) throw new Error(`no case ${id} in ${FILE.pathname}`);
  return found;
}

/** The case's own bytes where they hold the fault; a whole envelope of ours, named by its offset, where they do not. */
function recordOf(topic: string, record: CaseRecord): RawRecord {
  const key = record.keyBase64 === undefined ? Buffer.from(record.key ?? '') : Buffer.from(record.keyBase64, 'base64');
  const bytes =
    record.valueBase64 === undefined ? Buffer.from(record.valueText ?? '') : Buffer.from(record.valueBase64, 'base64');
  return {
    topic,
    key,
    value: isObject(bytes) ? sampleValue(String(record.offset)) : bytes,
    headers: { origin: `test-${record.offset}` },
  };
}

function isObject(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}

export function kafkaCases(harness: () => BusHarness): void {
  for (const id of ['B064', 'B067']) {
    const { title, given, expect: wanted } = loadCase(id);
    it(`${id}: ${title} (B4)`, async () => {
      const topic = unique('poison');
      const group = recorder(unique('group'), [topic], (batch) => {
        const bad = batch.find((incoming) => incoming.message.id === '8');
        if (bad) throw new Error('always');
      });
      const maxAttempts = given.config?.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
      const bus = await started(
        await harness().open({ retry: { maxAttempts, firstDelayMs: 20, factor: 2, maxDelayMs: 100 } }),
        group.spec,
      );
      const records = given.records.map((record) => recordOf(topic, record));
      const dead =
        wanted.deadLetter ??
        wanted.outcomes!.filter((o) => o.outcome === 'dead_letter').map((o) => ({ ...o, handlerAttempts: 0 }));
      const processed = given.records.map((r) => r.offset).filter((offset) => !dead.some((d) => d.offset === offset));
      await harness().put(bus, records);
      await until(
        'all have their outcome',
        async () => group.seen.length >= processed.length && (await harness().letters(topic)).length >= dead.length,
      );

      const letters = await harness().letters(topic);
      expect(letters).toHaveLength(dead.length);
      for (const { offset, code, handlerAttempts } of dead) {
        const index = given.records.findIndex((record) => record.offset === offset);
        const { key, value } = records[index]!;
        const letter = letters.find((one) => one.headers.origin?.toString() === `test-${offset}`);
        expect(letter).toMatchObject({
          group: group.spec.group,
          topic,
          value,
          handlerAttempts,
          ...(code === undefined ? {} : { code }),
        });
        expect(letter!.key).toEqual(key);
        expect(letter!.cause).toMatch(code === undefined ? /Error: always \[stack [0-9a-f]{16}\]/ : /\w/);
        expect(letter!.offset).toMatch(/^\d+$/);
      }
      expect(group.ids()).toEqual(processed.map(String));
      expect(JSON.stringify(group.seen.map((incoming) => incoming.message))).not.toContain('\ufffd');
      await bus.drain();
      expect([null, records.length]).toContain(await harness().committed(group.spec.group, topic));
      await bus.close();
    });
  }
}
