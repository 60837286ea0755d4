import { existsSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

/**
 * Preloaded into a service's process: its Date is off by so many hours as TEST_SHIFTED_HOURS says for its name. When the file
 * TEST_SHIFT_FLIP is there, the clock jumps: it is as far off the other way.
 */
const hours = JSON.parse(process.env.TEST_SHIFTED_HOURS ?? '{}');
const [, name = ''] = /apps\/([a-z-]+)\/src\/main\.js$/.exec(process.argv[1] ?? '') ?? [];
let shiftMs = (hours[name] ?? 0) * 3_600_000;
const look = setInterval(() => {
  if (!existsSync(process.env.TEST_SHIFT_FLIP ?? '')) return;
  shiftMs = -shiftMs;
  clearInterval(look);
}, 50);
look.unref();

const Real = Date;
globalThis.Date = class extends Real {
  constructor(...args) {
    if (args.length === 0) super(Real.now() + shiftMs);
    else super(...args);
  }
  static now() {
    return Real.now() + shiftMs;
  }
};
