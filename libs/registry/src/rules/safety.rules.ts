import type { ToolContract } from '#contracts';
import type { PublishFault } from '../check-publishable.ts';

/** What a tool that changes the world must say about itself. */
export function safetyFaults(contract: ToolContract): PublishFault[] {
  const { approval, idempotency, retry, risk, sideEffects, noUndoReason, errors, reconcile } = contract;
  const faults: PublishFault[] = [];
  const fault = (path: string, rule: string, message: string): void => void faults.push({ path, rule, message });
  if (sideEffects === 'none') {
    fault('/sideEffects', 'writeWithEffect', `a ${contract.layer} has side effects: say which, or set layer to "read"`);
  }
  if (errors.length === 0) {
    fault(
      '/errors',
      'required',
      'is empty: list what the backend may answer, so that a failure is told apart from an effect',
    );
  }
  const undone = contract.compensation !== undefined && 'tool' in contract.compensation;
  if (!undone && reconcile === undefined && (noUndoReason === undefined || noUndoReason.trim() === '')) {
    fault('/noUndoReason', 'required', 'is missing: a write without reconcile and compensation gives the reason');
  }
  if (approval.mode !== 'never' && approval.roles.length === 0) {
    fault('/approval/roles', 'required', 'is empty: name at least one role that may approve');
  }
  if (approval.mode === 'never' && (risk === 'high' || risk === 'critical')) {
    fault('/approval/mode', 'risk', `"never" does not go with ${risk} risk: use "policy" or "always"`);
  }
  if (idempotency.mode === 'none' && retry.attempts > 1) {
    fault(
      '/retry/attempts',
      'idempotency',
      'a write without an idempotency key is never repeated: set it to 1, or declare a key',
    );
  }
  return faults;
}
