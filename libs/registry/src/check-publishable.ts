import { isRead, toolKey, type ToolContract } from '#contracts';
import { CountersignError, type ErrorDetail } from '#kernel';
import { compensationFaults, undoFaults } from './rules/compensation.rules.ts';
import { executionFaults } from './rules/execution.rules.ts';
import { factsFaults, factsToolFaults } from './rules/facts.rules.ts';
import { reconcileFaults } from './rules/reconcile.rules.ts';
import { safetyFaults } from './rules/safety.rules.ts';
import { schemaFaults } from './rules/schema.rules.ts';
import { textFaults } from './rules/text.rules.ts';

/** A fault of a contract: where, which rule, and what to do about it. */
export interface PublishFault {
  /** JSON pointer into the contract. */
  readonly path: string;
  readonly rule: string;
  /** What is wrong and the remedy, in one sentence. */
  readonly message: string;
}

/** All that speaks against publishing a contract; empty when nothing does. */
export function publishFaults(contract: ToolContract): PublishFault[] {
  const faults = [
    ...textFaults(contract),
    ...schemaFaults(contract),
    ...executionFaults(contract),
    ...compensationFaults(contract),
    ...factsFaults(contract),
    ...reconcileFaults(contract),
  ];
  return isRead(contract) ? [...faults, ...readFaults(contract)] : [...faults, ...safetyFaults(contract)];
}

function readFaults(contract: ToolContract): PublishFault[] {
  if (contract.sideEffects === 'none') return [];
  return [
    {
      path: '/sideEffects',
      rule: 'readWithoutEffect',
      message: `a read has no side effects: set sideEffects to "none", or layer to "write"`,
    },
  ];
}

/** @throws CountersignError INVALID_ARGS with every fault of every contract, each with its place and remedy */
export function checkPublishable(...contracts: readonly ToolContract[]): void {
  const found = contracts.flatMap((contract) =>
    [...publishFaults(contract), ...undoFaults(contract, contracts), ...factsToolFaults(contract, contracts)].map(
      (fault) => ({
        tool: toolKey(contract),
        fault,
      }),
    ),
  );
  if (found.length === 0) return;
  const lines = found.map(({ tool, fault }) => `  - ${tool} ${fault.path}: ${fault.message}`);
  const details: ErrorDetail[] = found.map(({ tool, fault }) => ({ ...fault, message: `${tool}: ${fault.message}` }));
  throw new CountersignError('INVALID_ARGS', `Not publishable:\n${lines.join('\n')}`, { details });
}
