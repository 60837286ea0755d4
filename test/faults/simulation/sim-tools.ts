import { toolContractSchema, toolKey, type ToolContract, type ToolContractInput } from '#contracts';
import { compileInput, contractDigest } from '#registry';
import type { ContractShelf } from '../../../apps/orchestrator/src/domain/saga.types.ts';

const tool = (own: Partial<ToolContractInput> & Pick<ToolContractInput, 'name' | 'layer'>): ToolContract =>
  toolContractSchema.parse({
    namespace: 'sim',
    version: '1.0.0',
    title: 'A tool of the simulation',
    description: 'One class of idempotency',
    whenToUse: 'In the simulation',
    whenNotToUse: 'Elsewhere',
    sideEffects: own.layer === 'read' ? 'none' : 'reversible',
    input: {
      type: 'object',
      properties: { item: { type: 'string' }, note: { type: 'string', default: '' } },
      required: ['item'],
      additionalProperties: false,
    },
    output: { type: 'object' },
    execution: { kind: 'local', pool: 'default' },
    ...own,
  });

const header = { header: 'Idempotency-Key' };
const retry = { attempts: 3, backoffMs: 10, capMs: 100 };

/** One tool for each class that decides what may follow a lost answer. */
export const CONTRACTS: readonly ToolContract[] = [
  tool({ name: 'read', layer: 'read' }),
  tool({ name: 'set', layer: 'write', retry, idempotency: { mode: 'natural' }, resources: ['set:{item}'] }),
  tool({
    name: 'put',
    layer: 'write',
    idempotency: { mode: 'key', template: '{task}:{arg:item}', place: header },
    resources: ['put:{item}'],
    concurrency: 'per_resource',
  }),
  tool({
    name: 'once',
    layer: 'write',
    retry,
    idempotency: { mode: 'none' },
    resources: ['once:{item}'],
    concurrency: 'per_resource',
  }),
  tool({
    name: 'asked',
    layer: 'write',
    retry,
    idempotency: { mode: 'none' },
    reconcile: { final: true },
    resources: ['asked:{item}'],
    concurrency: 'per_resource',
  }),
];

export const TOOLSET = CONTRACTS.map((contract) => ({ tool: toolKey(contract), digest: contractDigest(contract) }));
const BY_DIGEST = new Map(CONTRACTS.map((contract) => [contractDigest(contract), contract]));
export const contractOf = (digest: string): ToolContract => BY_DIGEST.get(digest)!;
export const SHELF: ContractShelf = new Map(
  [...BY_DIGEST].map(([digest, contract]) => {
    const validator = compileInput(contract);
    return [digest, { contract, validate: (args: unknown) => validator.validate(args) }];
  }),
);
