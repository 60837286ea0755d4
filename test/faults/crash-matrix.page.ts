import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { FaultReport } from './fault-run.ts';

type Kind = 'matrix' | 'random';
type Results = Partial<Record<`${FaultReport['mode']} ${Kind}`, FaultReport>>;

/** Keeps the newest report of each mode and kind beside the page, and makes the page of all of them. */
export function crashMatrixPage(resultsFile: string, report: FaultReport, kind: Kind): string {
  const results = (existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}) as Results;
  results[`${report.mode} ${kind}`] = report;
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  return renderPage(results);
}

/** Why an ordinary load may miss a place. */
const SELDOM: Readonly<Record<string, string>> = {
  'executor.before-commit':
    'intents and outcomes are one statement each; only what is found out afterwards is a transaction',
  'executor.after-commit':
    'intents and outcomes are one statement each; only what is found out afterwards is a transaction',
};
const why = (target: string): string => SELDOM[target] ?? 'nothing passed there in time';

const killed = ({ applied }: FaultReport): number =>
  applied.filter(({ reached, fault }) => reached && fault === 'kill -9').length;

/** Of the random runs: what was struck how often, and how long recovery took. */
function struckSection(entries: readonly [string, FaultReport][]): string {
  const lines = entries.flatMap(([name, { applied }]) => {
    const struck = Map.groupBy(
      applied.filter(({ reached }) => reached),
      ({ target, fault }) => `${fault} | ${target}`,
    );
    return [...struck].sort().map(([what, all]) => {
      const times = all.flatMap(({ recoveryMs }) => recoveryMs ?? []).sort((a, b) => a - b);
      return `| ${name} | ${what} | ${all.length} | ${times[Math.floor(times.length / 2)] ?? '–'} | ${times.at(-1) ?? '–'} |`;
    });
  });
  return `## Struck at random

| run | fault | of | times | recovery p50, ms | max, ms |
| --- | ----- | -- | ----- | ---------------- | ------- |
${lines.join('\n')}

`;
}

export function renderPage(results: Results): string {
  const entries = Object.entries(results) as [string, FaultReport][];
  const figures = entries.map(
    ([name, r]) =>
      `| ${[name, `${r.kills} (${killed(r)})`, r.calls, r.lost, r.doubled, r.misreported, r.stuck, r.auditGaps, `${r.unknown} (${r.unknownExplained})`, r.recoveryMsP50 ?? '–', r.recoveryMsMax ?? '–'].join(' | ')} |`,
  );
  const matrices = entries.filter(([name]) => name.endsWith('matrix'));
  const rows = new Map<string, Map<string, string>>();
  for (const [name, { applied }] of matrices)
    for (const { target, fault, reached, recoveryMs } of applied) {
      const row = rows.get(`${target} | ${fault}`) ?? new Map<string, string>();
      row.set(
        name,
        reached ? (recoveryMs === null ? 'no progress' : String(recoveryMs)) : `not reached: ${why(target)}`,
      );
      rows.set(`${target} | ${fault}`, row);
    }
  const names = matrices.map(([name]) => name);
  const random = entries.filter(([name]) => name.endsWith('random'));
  return `# Crash matrix

Made by \`npm run faults -- --write\` from what the last runs measured; do not edit. How to read it: processes were killed,
stopped or cut off while all classes of tools were at work (reads, natural repeats, keys, probes, neither, with approval, agents).
Afterwards each call was judged by what the effect sink counted, what the journal holds, what the audit proves and what
its caller was told. [What is promised, and under which assumptions](guarantees.md).

## Figures

| run | faults (kill -9) | calls | lost | doubled | misreported | stuck | audit gaps | unknown (explained) | recovery p50, ms | max, ms |
| --- | ---------------- | ----- | ---- | ------- | ----------- | ----- | ---------- | ------------------- | ---------------- | ------- |
${figures.join('\n')}

Unknown is a call whose answer was lost and whose tool can neither be asked nor be called again: it is said to be unknown,
and is never repeated. Recovery: from the fault until its process is ready again and something that was begun after the
fault is settled.

${random.length === 0 ? '' : struckSection(random)}## Each place

Milliseconds of recovery; \`not reached\`: the load did not pass there in time, and why.

| place | fault | ${names.join(' | ')} |
| --- | --- | ${names.map(() => '---').join(' | ')} |
${[...rows].map(([key, row]) => `| ${key} | ${names.map((name) => row.get(name) ?? '').join(' | ')} |`).join('\n')}
`;
}
