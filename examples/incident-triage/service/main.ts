import { parseArgs } from 'node:util';
import { runProcess } from '../../json-service.ts';
import { start } from './start.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4010' }, data: { type: 'string', default: './incident-data' } },
});
await runProcess(values.port, (port) => start(port, values.data));
