import { CATALOGUE, type MessageType } from '#contracts';
import { CountersignError } from '#kernel';
import type { ServiceName, ServiceParts } from '../door.ts';

interface OpenedParts {
  readonly name: ServiceName;
  readonly parts: ServiceParts;
}

/** Fail at start: a consumer group is one reducer, a command has at most one consumer, and exactly one when all live here. */
export function checkConsumers(services: readonly OpenedParts[], complete: boolean): void {
  const faults: string[] = [];
  const groups = new Map<string, ServiceName>();
  const consumersOf = new Map<MessageType, Set<ServiceName>>();
  for (const { name, parts } of services) {
    for (const consumer of parts.consumers) {
      const other = groups.get(consumer.group);
      if (other) faults.push(`the consumer group ${consumer.group} is used by ${other} and ${name}`);
      groups.set(consumer.group, name);
      for (const type of consumer.accepts) consumersOf.set(type, (consumersOf.get(type) ?? new Set()).add(name));
    }
  }
  for (const [type, row] of Object.entries(CATALOGUE) as [MessageType, (typeof CATALOGUE)[MessageType]][]) {
    const names = [...(consumersOf.get(type) ?? [])];
    for (const name of names) {
      if (!(row.consumers as readonly string[]).includes(name))
        faults.push(`${name} consumes ${type}, which the catalogue does not say`);
    }
    const acting = names.filter((name) => name !== 'state-store' && name !== 'telemetry');
    if (row.kind === 'command' && acting.length > 1)
      faults.push(`the command ${type} has several consumers: ${acting.join(', ')}`);
    if (complete && row.kind === 'command' && acting.length === 0) faults.push(`nobody consumes the command ${type}`);
  }
  if (faults.length > 0)
    throw new CountersignError(
      'INVALID_ARGS',
      `The services do not fit together:\n${faults.map((f) => `  - ${f}`).join('\n')}`,
    );
}

const POOL = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** A pool is part of topic names, and what is granted to a pool that nobody serves would wait for ever. */
export function checkPools(settings: { readonly COUNTERSIGN_POOLS: readonly string[] }): void {
  const pools = settings.COUNTERSIGN_POOLS;
  const own = (settings as { readonly COUNTERSIGN_POOL?: string }).COUNTERSIGN_POOL;
  const faults = pools
    .filter((pool) => !POOL.test(pool))
    .map((pool) => `${JSON.stringify(pool)} is not a pool: expected lower case letters, digits and single underscores`);
  if (pools.length === 0) faults.push('names no pool; name at least one, or unset it');
  if (new Set(pools).size < pools.length) faults.push('names a pool twice');
  if (faults.length === 0 && own !== undefined && !pools.includes(own))
    faults.push(`does not name ${own}, the COUNTERSIGN_POOL of the executor here; add it, or correct one of the two`);
  if (faults.length > 0) throw new CountersignError('INVALID_ARGS', `COUNTERSIGN_POOLS: ${faults.join('; ')}.`);
}
