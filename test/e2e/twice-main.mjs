// One service of the built tree whose messages are all delivered twice: test wiring only.
// node test/e2e/twice-main.mjs <service>
import { runServices } from '#runtime';

const name = process.argv[2];
const module = await import(new URL(`../../dist/apps/${name}/src/${name}.module.js`, import.meta.url).href);
const door = Object.values(module).find((value) => value && typeof value === 'object' && value.name === name);

/** Each batch is handed over twice: at once, and again after it was handled. */
const twice = (bus) => ({
  publish: (messages) => bus.publish(messages),
  subscribe: (spec) =>
    bus.subscribe({
      ...spec,
      async reduce(batch) {
        await spec.reduce([...batch, ...batch]);
        await spec.reduce(batch);
      },
    }),
  start: () => bus.start(),
  drain: () => bus.drain(),
  close: () => bus.close(),
  healthy: () => bus.healthy(),
});

await runServices([door], { wrapBus: twice });
