import { mkdtempSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { startKafka } from '../../tools/stack/kafka.ts';
const b = await startKafka({ directory: mkdtempSync('/tmp/kdl/hop-') });
for (const round of [1]) { const r = spawnSync(process.execPath, ['--conditions=development', '--no-warnings', '--cpu-prof', '--cpu-prof-dir=/tmp/kdl/prof', 'libs/bus/hop-scratch.ts', b.brokers, '250'], { encoding: 'utf8' }); console.log(r.stdout.replace(/\n  /g, ' '), r.stderr.slice(0, 500)); }
await b.stop();
