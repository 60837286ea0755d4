import { isRead, type CallProposed } from '#contracts';
import { callIdOf, digestArguments, digestText, type ErrorCode, type ErrorDetail } from '#kernel';
import { callError } from './call-error.ts';
import { nameResources } from './name-effects.ts';
import type { ProposedCall, SettledCall } from './call-state.ts';
import type { Run } from './run-state.ts';
import { ContractsMissing, type Env } from './saga.types.ts';
import type { WayBack } from './way-back.ts';

/** How long after its proposal an undo may still be granted; milliseconds. */
const UNDO_TIME_MS = 600_000;

export interface UndoCall {
  readonly ok: true;
  readonly call: ProposedCall;
}
export interface NoUndo {
  readonly ok: false;
  readonly callId: string;
  readonly error: ReturnType<typeof callError>;
}

/**
 * The undo of one call as a governed call of its own.
 * @throws ContractsMissing when the undo tool's contract must be fetched first
 */
export function undoCall(run: Run, undone: SettledCall, way: WayBack, env: Env): UndoCall | NoUndo {
  const { definition } = run;
  const callId = callIdOf(definition.runId, ['undo', undone.callId, String(way.tries + 1)]);
  const no = (code: ErrorCode, message: string, details: readonly ErrorDetail[] = []): NoUndo => ({
    ok: false,
    callId,
    error: callError(code, message, details),
  });
  if (way.fault !== undefined)
    return no('INVALID_ARGS', `The mapping of the compensation of ${undone.tool} does not fit: ${way.fault}`);
  if (way.digest === null)
    return no('UNKNOWN_TOOL', `The undo tool ${way.tool} was not published when the run began: undo it by other means`);
  const readable = env.contracts.get(way.digest);
  if (readable === undefined) throw new ContractsMissing([way.digest]);
  if (readable === 'unreadable') return no('INTERNAL', `The contract of ${way.tool} cannot be read`);
  const { contract } = readable;
  if (isRead(contract)) return no('TOOL_NOT_ALLOWED', `${way.tool} only reads: it undoes nothing`);
  const checked = readable.validate(way.arguments);
  if (!checked.ok)
    return no(
      'INVALID_ARGS',
      `What the compensation of ${undone.tool} maps does not fit the input of ${way.tool}`,
      checked.details,
    );
  const resources = nameResources(contract, checked.arguments);
  if (!resources.ok) return no(resources.code, resources.message, resources.details);
  const approvalTtlMs = contract.approval.mode === 'never' ? 0 : contract.approval.ttlMs;
  const proposal: CallProposed = {
    driver: definition.driver,
    principal: definition.principal,
    tool: way.tool,
    contractDigest: way.digest,
    pool: contract.execution.pool,
    effectClass: 'undo',
    arguments: checked.arguments,
    argumentsDigest: digestArguments(way.tool, way.digest, checked.arguments),
    resources: resources.value,
    operationKey: undoKey(definition.tenant, undone.callId),
    undoes: { callId: undone.callId, contractDigest: way.contractDigest },
    origins: {},
    runDeadline: env.now + UNDO_TIME_MS + approvalTtlMs,
  };
  const call: ProposedCall = {
    callId,
    tool: way.tool,
    batch: UNDO_BATCH,
    effectClass: 'undo',
    undoes: undone.callId,
    state: 'proposed',
    proposal,
    at: env.now,
    movedAt: env.now,
    timeoutMs: contract.timeoutMs,
  };
  return { ok: true, call };
}

/** Undos belong to no turn. */
export const UNDO_BATCH = -1;

/**
 * One key for each generation of the undone operation, which its call names: a second try is the same operation, and
 * once it succeeded it is only answered (G7). Nobody outside names keys of class `undo`.
 */
const undoKey = (tenant: string, callId: string): string => `${tenant}/undo/${digestText('undo-key/v1', callId)}`;
