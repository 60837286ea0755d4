import { parseArgs } from 'node:util';
import { runProcess } from '../../json-service.ts';
import { start } from './start.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4030' }, data: { type: 'string', default: './refund-data' } },
});
await runProcess(values.port, (port) => start(port, values.data));
