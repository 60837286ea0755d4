import { toolName, type CallFacts, type CallProposed, type Principal, type ToolContract } from '#contracts';

/** `call`: may this happen at all? `call_unattended`: without a person? */
export type PolicyAction = 'call' | 'call_unattended';

/** Everything that policies may look at, as plain values (see policy-schema.ts). */
export interface PolicyQuestion {
  readonly tenant: string;
  readonly principal: Principal;
  /** `ns.name`. */
  readonly tool: string;
  readonly context: {
    readonly tenant: string;
    /** `ns.name@version`. */
    readonly tool: string;
    readonly namespace: string;
    readonly layer: string;
    readonly risk: string;
    readonly sideEffects: string;
    readonly effectClass: string;
    readonly driver: string;
    readonly roles: readonly string[];
    readonly tainted: boolean;
    readonly resources: readonly string[];
    /** Of the contract's `amountArgument`; 0 = it has none. */
    readonly amount: number;
    /** Those that the contract names. */
    readonly facts: Partial<CallFacts['values']>;
  };
}

/** Cedar's answer; `failed` is a denial by a fault of the policies or of the request (G13). */
export interface PolicyAnswer {
  readonly allowed: boolean;
  readonly failed: boolean;
  /** Ids of the determining policies; empty when nothing permits. */
  readonly reasons: readonly string[];
}

export function policyQuestion(tenant: string, call: CallProposed, contract: ToolContract): PolicyQuestion {
  return {
    tenant,
    principal: call.principal,
    tool: toolName(contract),
    context: {
      tenant,
      tool: call.tool,
      namespace: contract.namespace,
      layer: contract.layer,
      risk: contract.risk,
      sideEffects: contract.sideEffects,
      effectClass: call.effectClass,
      driver: call.driver,
      roles: call.principal.roles,
      tainted: isTainted(call),
      resources: call.resources,
      amount: amountOf(call, contract) ?? 0,
      facts: call.facts?.values ?? {},
    },
  };
}

/** What the contract's `amountArgument` holds; null = the contract names one, and it is not an exact integer. */
export function amountOf({ arguments: args }: CallProposed, { amountArgument }: ToolContract): number | null {
  if (amountArgument === undefined) return 0;
  const amount = args[amountArgument];
  return Number.isSafeInteger(amount) ? (amount as number) : null;
}

/** May a value come from a tool's result? A model-driven call whose origins nobody told counts as tainted. */
export function isTainted(call: Pick<CallProposed, 'driver' | 'origins' | 'arguments'>): boolean {
  const origins = Object.values(call.origins);
  if (origins.some((origin) => origin.startsWith('tool:'))) return true;
  return call.driver === 'agent' && origins.length === 0 && Object.keys(call.arguments).length > 0;
}
