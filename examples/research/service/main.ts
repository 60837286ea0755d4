import { parseArgs } from 'node:util';
import { runProcess } from '../../json-service.ts';
import { databaseUrl } from './library.config.ts';
import { start } from './start.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4020' }, documents: { type: 'string' } },
});
const database = databaseUrl();
if (database === undefined) {
  console.error(
    'RESEARCH_DATABASE_URL is not set; give a PostgreSQL, such as postgresql://postgres:countersign@127.0.0.1:5432/countersign',
  );
  process.exit(2);
}
await runProcess(values.port, (port) =>
  start({ port, databaseUrl: database, ...(values.documents === undefined ? {} : { documents: values.documents }) }),
);
