import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { CountersignError, digestJson } from '#kernel';
import type { PolicyAction, PolicyAnswer, PolicyQuestion } from '../domain/policy-question.ts';
import { POLICY_SCHEMA } from '../policies/policy-schema.ts';
import type { PolicyTexts } from './read-policies.ts';

/**
 * Cedar, evaluated fail-closed.
 * E1 a failure, an exception or any error of a single policy denies: an erroring `forbid` would be skipped otherwise (G13).
 * E2 evaluation is pure, so an answer is kept under the exact values that were asked; only what no policy reads is left out.
 * E3 an action and tool are asked only the policies whose scope can match them: the others could neither apply nor fail.
 */
export class CedarEngine {
  /** Names pack and schema. */
  readonly policyDigest: string;
  readonly #policies: readonly ScopedPolicy[];
  readonly #schemaName: string;
  readonly #slices = new Map<string, Slice>();
  readonly #answers = new Map<string, PolicyAnswer>();

  /** @throws CountersignError INVALID_ARGS when a policy cannot be prepared */
  constructor(texts: PolicyTexts) {
    this.policyDigest = digestJson('policy/v1', { schema: POLICY_SCHEMA, policies: texts });
    this.#policies = Object.entries(texts).map(([id, text]) => scoped(id, text));
    this.#schemaName = digestJson('policy-schema/v1', POLICY_SCHEMA);
    prepared(cedar.preparseSchema(this.#schemaName, POLICY_SCHEMA), 'the schema');
  }

  readonly ask = (action: PolicyAction, question: PolicyQuestion): PolicyAnswer => {
    const slice = this.#sliceOf(action, question.tool, question.context.namespace);
    const { context } = question;
    const resources = slice.reads.resources ? context.resources : [];
    const amount = slice.reads.amount ? context.amount : 0;
    const facts = slice.reads.facts ? context.facts : {};
    const asked = { ...question, context: { ...context, resources, amount, facts } };
    const key = `${action} ${JSON.stringify(asked)}`;
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#evaluate(action, asked, slice.id);
    if (answer.failed) return answer;
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!);
    this.#answers.set(key, answer);
    return answer;
  };

  #evaluate(
    action: PolicyAction,
    { tenant, principal, tool, context }: PolicyQuestion,
    policySet: string,
  ): PolicyAnswer {
    const who = { type: PRINCIPAL_TYPES[principal.kind], id: principal.id };
    try {
      const answer = cedar.statefulIsAuthorized({
        principal: who,
        action: { type: 'Action', id: action },
        resource: { type: 'Tool', id: tool },
        context: {
          ...context,
          roles: [...context.roles],
          resources: [...context.resources],
          facts: context.facts as Record<string, string | number>,
        },
        preparsedPolicySetId: policySet,
        preparsedSchemaName: this.#schemaName,
        validateRequest: true,
        entities: [
          { uid: who, attrs: { tenant }, parents: principal.roles.map((id) => ({ type: 'Role', id })) },
          { uid: { type: 'Tool', id: tool }, attrs: {}, parents: [{ type: 'Namespace', id: context.namespace }] },
        ],
      });
      if (answer.type === 'failure') return FAILED;
      const { decision, diagnostics } = answer.response;
      if (diagnostics.errors.length > 0)
        return { ...FAILED, reasons: diagnostics.errors.map((error) => error.policyId) };
      return { allowed: decision === 'allow', failed: false, reasons: [...diagnostics.reason].sort() };
    } catch {
      return FAILED;
    }
  }

  #sliceOf(action: PolicyAction, tool: string, namespace: string): Slice {
    const key = `${action} ${tool}`;
    const known = this.#slices.get(key);
    if (known) return known;
    const chosen = this.#policies.filter((policy) => policy.matches(action, tool, namespace));
    const id = digestJson('policy-slice/v1', Object.fromEntries(chosen.map((policy) => [policy.id, policy.text])));
    prepared(
      cedar.preparsePolicySet(id, { staticPolicies: Object.fromEntries(chosen.map((p) => [p.id, p.text])) }),
      'the policies',
    );
    const reads = {
      resources: chosen.some((policy) => policy.reads.resources),
      amount: chosen.some((policy) => policy.reads.amount),
      facts: chosen.some((policy) => policy.reads.facts),
    };
    const slice = { id, reads };
    if (this.#slices.size >= MAX_SLICES) this.#slices.clear();
    this.#slices.set(key, slice);
    return slice;
  }
}

const MAX_ANSWERS = 10_000;
const MAX_SLICES = 20_000;
const FAILED: PolicyAnswer = { allowed: false, failed: true, reasons: [] };
const PRINCIPAL_TYPES = { user: 'User', service: 'Service', agent: 'Agent' } as const;

/** What differs from call to call; left out of the question where no policy looks at it. */
interface Reads {
  readonly resources: boolean;
  readonly amount: boolean;
  readonly facts: boolean;
}

interface Slice {
  /** Name of the preparsed set: a digest of its content. */
  readonly id: string;
  readonly reads: Reads;
}

interface ScopedPolicy {
  readonly id: string;
  readonly text: string;
  readonly reads: Reads;
  matches(action: PolicyAction, tool: string, namespace: string): boolean;
}

function scoped(id: string, text: string): ScopedPolicy {
  const parsed = cedar.policyToJson(text);
  if (parsed.type === 'failure')
    throw new CountersignError('INVALID_ARGS', `The policy ${id} cannot be read: ${parsed.errors[0]?.message ?? ''}`);
  const { action, resource, conditions } = parsed.json;
  const condition = JSON.stringify(conditions);
  const reads = (attribute: string): boolean => condition.includes(`"${attribute}"`);
  const actions = namedIn(action);
  const resources = namedIn(resource);
  return {
    id,
    text,
    reads: { resources: reads('resources'), amount: reads('amount'), facts: reads('facts') },
    matches: (asked, tool, namespace) =>
      (actions === null || actions.some((name) => name === `Action ${asked}`)) &&
      (resources === null || resources.some((name) => name === `Tool ${tool}` || name === `Namespace ${namespace}`)),
  };
}

/** `Type id` of the entities that a scope names; null = any. */
function namedIn(scope: object): string[] | null {
  const { op, entity, entities } = scope as { op: string; entity?: NamedEntity; entities?: NamedEntity[] };
  if (op !== '==' && op !== 'in') return null;
  const named = [...(entity ? [entity] : []), ...(entities ?? [])];
  return named.map((one) => ('__entity' in one ? one.__entity : one)).map(({ type, id }) => `${type} ${id}`);
}
type EntityName = { type: string; id: string };
type NamedEntity = EntityName | { __entity: EntityName };

function prepared(answer: cedar.CheckParseAnswer, what: string): void {
  if (answer.type === 'failure')
    throw new CountersignError(
      'INVALID_ARGS',
      `Cedar refuses ${what}: ${answer.errors.map((e) => e.message).join('; ')}`,
    );
}
