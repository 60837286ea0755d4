import { isRead, toolKey, toolName, type ToolContract } from '#contracts';
import { parsePointer } from '#kernel';
import type { PublishFault } from '../check-publishable.ts';
import { propertiesOf, unknownArgument } from './schema.rules.ts';

/** What a contract alone shows of its facts: what is mapped is there, and a changed resource is told apart from an effect. */
export function factsFaults(contract: ToolContract): PublishFault[] {
  const { facts, execution, errors } = contract;
  if (facts === undefined) return [];
  const faults: PublishFault[] = [];
  const fault = (path: string, rule: string, message: string): void => void faults.push({ path, rule, message });
  if (isRead(contract)) fault('/facts', 'readWithoutEffect', 'are of no use to a read: leave them out');
  const input = propertiesOf(contract.input);
  for (const [name, source] of Object.entries(facts.arguments)) {
    const key = 'argument' in source ? parsePointer(source.argument)[0] : undefined;
    if (key !== undefined && !Object.hasOwn(input, key))
      faults.push(unknownArgument(`/facts/arguments/${name}`, key, input));
  }
  const place = facts.versionPlace;
  const path = '/facts/versionPlace';
  if ('header' in place && execution.kind !== 'http')
    fault(path, 'header', 'names a header, which only an http tool has: name an argument');
  if ('argument' in place && Object.hasOwn(input, place.argument))
    fault(path, 'reserved', `"${place.argument}" is an argument of the input: name one that a caller cannot give`);
  if ('argument' in place && !errors.some(({ code, noEffect }) => code === 'APPROVAL_MISMATCH' && noEffect))
    fault(
      '/errors',
      'required',
      'lacks what the backend answers to a changed version: code APPROVAL_MISMATCH, noEffect',
    );
  return faults;
}

/** What contracts show together, where they are published at once. */
export function factsToolFaults(contract: ToolContract, others: readonly ToolContract[]): PublishFault[] {
  const named = (name: string | undefined) =>
    others.find((other) => name !== undefined && (toolKey(other) === name || toolName(other) === name));
  const faults: PublishFault[] = [];
  const tool = named(contract.facts?.tool);
  if (tool && !isRead(tool))
    faults.push({ path: '/facts/tool', rule: 'read', message: `${contract.facts!.tool} is not a read: name one` });
  const { compensation } = contract;
  const undo = named(compensation && 'tool' in compensation ? compensation.tool : undefined);
  if (undo?.facts) {
    const message = `${toolName(undo)} wants facts, which an undo has not: name a tool without them`;
    faults.push({ path: '/compensation/tool', rule: 'facts', message });
  }
  return faults;
}
