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
