import type { ToolContract } from '#contracts';
import type { ErrorDetail, Json } from '#kernel';
import { compileOutput } from '#registry';

/** Faults of the data against the contract's output schema; empty when it fits. */
export type OutputCheck = (value: Json) => readonly ErrorDetail[];

export function outputCheck(contract: ToolContract): OutputCheck {
  const validator = compileOutput(contract);
  return (value) => {
    const checked = validator.validate(value);
    return checked.ok ? [] : checked.details;
  };
}
