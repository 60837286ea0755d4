import { parseArgs } from 'node:util';
import { start } from './start.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4010' }, data: { type: 'string', default: './incident-data' } },
});
if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
  console.error(`--port: found ${JSON.stringify(values.port)}; expected a number from 0 to 65535`);
  process.exit(2);
}
try {
  const service = await start(Number(values.port), values.data);
  console.log(JSON.stringify({ url: service.url }));
  const stop = (): void => void service.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.once('disconnect', stop); // started as a child: it ends with its parent
  process.once('disconnect', stop); // whoever started it is gone
} catch (error) {
  const code = (error as NodeJS.ErrnoException).code;
  console.error(code === 'EADDRINUSE' ? `port ${values.port} is in use; give another with --port` : error);
  process.exit(1);
}
