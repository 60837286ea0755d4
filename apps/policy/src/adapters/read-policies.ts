import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { CountersignError } from '#kernel';
import { POLICY_SCHEMA } from '../policies/policy-schema.ts';

/** One Cedar file. */
export interface PolicyFile {
  /** As named in faults. */
  readonly file: string;
  /** Begins the ids of its policies: `default`, or `<workspace>/<file>`. */
  readonly prefix: string;
  readonly text: string;
}

/** Stable id → Cedar text of one policy. */
export type PolicyTexts = Readonly<Record<string, string>>;

const DEFAULT_PACK = new URL('../policies/default.cedar', import.meta.url);

/**
 * The default pack and `policies/*.cedar` of each workspace; a workspace without that folder adds none. Only Cedar text
 * is read: the process that decides never loads the code of tools.
 * @throws CountersignError INVALID_ARGS when a workspace is not a folder
 */
export function readPolicyFiles(workspaces: readonly string[]): PolicyFile[] {
  const files: PolicyFile[] = [
    { file: 'default.cedar', prefix: 'default', text: readFileSync(fileURLToPath(DEFAULT_PACK), 'utf8') },
  ];
  for (const workspace of workspaces) {
    if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory()) {
      throw new CountersignError(
        'INVALID_ARGS',
        `COUNTERSIGN_WORKSPACES: ${workspace} is not a folder; name existing workspace folders.`,
      );
    }
    const folder = path.join(workspace, 'policies');
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue;
    const names = readdirSync(folder)
      .filter((name) => name.endsWith('.cedar'))
      .sort();
    for (const name of names) {
      const prefix = `${path.basename(path.resolve(workspace))}/${name.slice(0, -'.cedar'.length)}`;
      files.push({ file: path.join(folder, name), prefix, text: readPolicy(path.join(folder, name)) });
    }
  }
  return files;
}

function readPolicy(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CountersignError(
      'INVALID_ARGS',
      `${file} cannot be read (${(cause as NodeJS.ErrnoException).code}): a policy that is missing must not be passed over. Mend or remove it.`,
      { cause },
    );
  }
}

/**
 * Splits and checks all files strictly: syntax, ids, and every attribute and type against the schema.
 * @throws CountersignError INVALID_ARGS with every fault in one message: file, line, what is wrong, remedy
 */
export function checkPolicies(files: readonly PolicyFile[]): PolicyTexts {
  const policies: Record<string, string> = {};
  const faults: string[] = [];
  for (const file of files) {
    const split = splitPolicies(file);
    faults.push(...split.faults);
    for (const policy of split.policies) {
      if (Object.hasOwn(policies, policy.id)) {
        faults.push(`${at(file, policy.line)}: the id ${policy.id} stands twice; give each policy an @id of its own`);
        continue;
      }
      policies[policy.id] = policy.text;
      faults.push(...validatePolicy(file, policy));
    }
  }
  if (faults.length > 0) {
    throw new CountersignError(
      'INVALID_ARGS',
      `Bad policies:\n${[...new Set(faults)].map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
  return policies;
}

interface PlacedPolicy {
  readonly id: string;
  readonly text: string;
  /** Where it begins in its file, from 1. */
  readonly line: number;
}

const lineOf = (text: string, byteOffset: number): number =>
  Buffer.from(text).subarray(0, byteOffset).toString('utf8').split('\n').length;
const at = (file: PolicyFile, line: number): string => `${file.file}:${line}`;

function splitPolicies(file: PolicyFile): { readonly policies: PlacedPolicy[]; readonly faults: string[] } {
  const answer = cedar.policySetTextToParts(file.text);
  if (answer.type === 'failure') {
    return {
      policies: [],
      faults: answer.errors.map((error) => describe(file, error, file.text, 1, 'correct the Cedar syntax')),
    };
  }
  const faults: string[] = [];
  const policies: PlacedPolicy[] = [];
  let cursor = 0;
  for (const text of answer.policies) {
    const start = Math.max(file.text.indexOf(text, cursor), 0);
    cursor = start + text.length;
    const line = file.text.slice(0, start).split('\n').length;
    const parsed = cedar.policyToJson(text);
    if (parsed.type === 'failure')
      faults.push(...parsed.errors.map((error) => describe(file, error, text, line, 'correct the policy')));
    else policies.push({ id: `${file.prefix}/${parsed.json.annotations?.['id'] ?? policies.length + 1}`, text, line });
  }
  for (const text of answer.policy_templates) {
    const line = file.text.slice(0, Math.max(file.text.indexOf(text), 0)).split('\n').length;
    faults.push(
      `${at(file, line)}: a template (?principal, ?resource) is never linked here; write the policy without placeholders`,
    );
  }
  return { policies, faults };
}

function validatePolicy(file: PolicyFile, policy: PlacedPolicy): string[] {
  const answer = cedar.validate({
    schema: POLICY_SCHEMA,
    policies: { staticPolicies: { [policy.id]: policy.text } },
    validationSettings: { mode: 'strict' },
  });
  const remedy = 'use only what policy-schema.ts declares';
  // A warning means a policy that never applies, or look-alike characters: neither is what its author meant.
  const errors =
    answer.type === 'failure'
      ? answer.errors
      : [...answer.validationErrors, ...answer.validationWarnings].map(({ error }) => error);
  return errors.map((error) => describe(file, error, policy.text, policy.line, remedy));
}

function describe(
  file: PolicyFile,
  error: cedar.DetailedError,
  text: string,
  firstLine: number,
  remedy: string,
): string {
  const place = error.sourceLocations?.[0];
  const line = place ? firstLine + lineOf(text, place.start) - 1 : firstLine;
  return `${at(file, line)}: ${error.message}; ${error.help ?? place?.label ?? remedy}`;
}
