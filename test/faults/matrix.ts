import type { ProcessName } from '../../apps/cli/src/supervisor/service-process.ts';
import { recovery, waitFor, type Applied } from './fault-run.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';
import { placesOf, type Place } from './places.ts';

/** How long the load is waited for to pass a place. */
const REACH_MS = 45_000;
/** Longer than a lease. */
const STOPPED_MS = 6_000;

/**
 * Each place once: the process that passes it is killed there and then. Services that are processes of their own are gone
 * through side by side, as it happens to them in a bad hour.
 */
export async function killAtEachPlace(
  installation: Installation,
  load: Load,
  places: readonly Place[] = placesOf(installation.mode),
): Promise<Applied[]> {
  const applied: Applied[] = [];
  const processOf = ({ service }: Place): ProcessName => (installation.mode === 'stack' ? service : 'all-in-one');
  const byProcess = Map.groupBy(places, processOf);
  await Promise.all(
    [...byProcess].map(async ([name, own]) => {
      for (const place of own) applied.push(await killAt(installation, load, name, place.name));
    }),
  );
  return applied;
}

async function killAt(installation: Installation, load: Load, name: ProcessName, place: string): Promise<Applied> {
  installation.order(name, `${place}:kill:1`);
  const reached = await waitFor(() => installation.carriedOut(name), REACH_MS);
  const since = performance.now();
  const recoveryMs = reached ? await recovery(installation, load, since, name) : null;
  return { target: place, fault: 'kill -9', reached, recoveryMs };
}

/** SIGSTOP for longer than a lease at the place, then SIGCONT: what the process does then, others may have done already. */
export async function stopAt(
  installation: Installation,
  load: Load,
  name: ProcessName,
  place: string,
): Promise<Applied> {
  installation.order(name, `${place}:stop:1`);
  const pid = installation.pid(name);
  const reached = pid !== undefined && (await waitFor(() => installation.carriedOut(name), REACH_MS));
  if (!reached) return { target: place, fault: 'SIGSTOP', reached, recoveryMs: null };
  await waitFor(() => false, STOPPED_MS);
  const since = performance.now();
  process.kill(pid, 'SIGCONT');
  return { target: place, fault: 'SIGSTOP', reached, recoveryMs: await recovery(installation, load, since, null) };
}

/** The commit was carried out, and its answer never came: to find out is the only way on. */
export async function cutCommit(installation: Installation, load: Load, commit: Commit): Promise<Applied> {
  const { schema, statement } = commit;
  const before = installation.proxy.cuts;
  installation.proxy.cutNext(schema, statement);
  const reached = await waitFor(() => installation.proxy.cuts > before, REACH_MS);
  const since = performance.now();
  const recoveryMs = reached ? await recovery(installation, load, since, null) : null;
  const target = statement ? `${schema}: ${statement}` : schema;
  return { target, fault: 'connection cut in mid-commit', reached, recoveryMs };
}

/** A schema's COMMIT, or the statement that is a commit of its own. */
export interface Commit {
  readonly schema: string;
  readonly statement?: string;
}

/** The executor's intents and outcomes are one statement each. */
export const COMMITS: readonly Commit[] = [
  { schema: 'orchestrator' },
  { schema: 'policy' },
  { schema: 'executor', statement: 'journal-intend' },
  { schema: 'executor', statement: 'journal-settle' },
  { schema: 'model_adapter' },
  { schema: 'telemetry' },
];
