import { MemoryBus } from './src/memory/memory-bus.ts';
import { KafkaBus } from './src/kafka/kafka-bus.ts';
import { sample, sampleRun } from './testing/sample-messages.ts';
const kafka = process.argv[2];
const HOPS = 5,
  N = Number(process.argv[3] ?? 300),
  PAR = Number(process.argv[4] ?? 1);
const topics = Array.from({ length: HOPS }, (_, i) => `hop${i}-${Date.now()}`);
const bus = kafka
  ? new KafkaBus({ brokers: [kafka], clientId: 'hop' })
  : new MemoryBus({ deadLetters: { put: async (l) => console.log(l.cause), list: async () => [] } });
const waiting = new Map<string, () => void>();
topics.forEach((topic, i) =>
  bus.subscribe({
    group: `g${i}`,
    topics: [topic],
    from: 'earliest',
    accepts: ['FinishRun'],
    reduce: async (batch) => {
      const next = topics[i + 1];
      if (next)
        void bus.publish(
          batch.map((b) => ({
            topic: next,
            key: b.message.runId!,
            partitionKey: b.message.runId!,
            value: b.delivery.value!,
          })),
        );
      else for (const b of batch) waiting.get(b.message.id)?.();
    },
  }),
);
let t0 = performance.now();
await bus.start();
console.log('start ms', (performance.now() - t0).toFixed(0));
const run = async (n: number, par: number) => {
  const times: number[] = [];
  let k = 0;
  await Promise.all(
    Array.from({ length: par }, async () => {
      while (k < n) {
        const id = `m${k++}-${par}`;
        const t = performance.now();
        const p = new Promise<void>((r) => waiting.set(id, r));
        void bus.publish([sample(topics[0]!, id, sampleRun())]);
        await p;
        times.push(performance.now() - t);
      }
    }),
  );
  times.sort((a, b) => a - b);
  return times;
};
await run(N, PAR);
for (const par of [1, 16, 64]) {
  const c = process.cpuUsage();
  const t = performance.now();
  const times = await run((N * par) / 2, par);
  const cpu = process.cpuUsage(c);
  const el = performance.now() - t;
  console.log({
    par,
    p50hop: (times[times.length >> 1]! / HOPS).toFixed(3),
    p95hop: (times[Math.floor(times.length * 0.95)]! / HOPS).toFixed(3),
    msgsPerS: (((times.length * HOPS) / el) * 1000).toFixed(0),
    cpuUsPerHop: ((cpu.user + cpu.system) / times.length / HOPS).toFixed(1),
  });
}
t0 = performance.now();
await bus.drain();
await bus.close();
console.log('stop ms', (performance.now() - t0).toFixed(0));
