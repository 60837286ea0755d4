import fc from 'fast-check';
import { checkProof } from '#audit';
import type { Checkpoint, ConsistencyProof, InclusionProof } from '#audit';
import { hash } from 'node:crypto';
import {
  consistencyPath,
  GrowingTree,
  inclusionPath,
  isConsistent,
  leafHash,
  newId,
  nodeHash,
  rootOfInclusion,
} from '#kernel';
import { runFacts } from '../../../libs/contracts/testing/run-facts.ts';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { checkpointsOf, factsOfRuns, keysOf, openTelemetry, reduceFacts } from '../testing/ledger-fixture.ts';
import { growTree, type StoredTree } from './domain/grow-trees.ts';
import { rangesOf } from './domain/tiled-tree.ts';

const digestOf = (n: number): Buffer => hash('sha256', `record ${n}`, 'buffer');

/** RFC 6962, section 2.1, word for word. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return leafHash(leaves[0]!);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return nodeHash(treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}

describe('the tree over a ledger', () => {
  const leaves = Array.from({ length: 1100 }, (_, n) => digestOf(n));
  const grown = (size: number, steps: readonly number[] = []) => {
    let tree: StoredTree = { tenant: 'a', partition: 0, size: 0, head: Buffer.alloc(0), peaks: Buffer.alloc(0) };
    const tiles: Buffer[] = [];
    for (const to of [...steps.filter((step) => step < size).sort((a, b) => a - b), size]) {
      const added = leaves.slice(tree.size, to).map((digest, i) => ({ seq: tree.size + i + 1, digest }));
      const next = growTree(tree, added);
      for (const { tile, root } of next.tiles) tiles[tile] = root;
      tree = next;
    }
    return { tree: growTree(tree, []), tiles };
  };
  const sizes = fc.integer({ min: 1, max: leaves.length });

  it('has the root that RFC 6962 defines, in however many steps it grew (G11)', () => {
    fc.assert(
      fc.property(sizes, fc.array(sizes, { maxLength: 6 }), (size, steps) => {
        const { tree, tiles } = grown(size, steps);
        expect(tree.root).toEqual(treeHash(leaves.slice(0, size)));
        expect(tree.head).toEqual(leaves[size - 1]);
        tiles.forEach((tile, i) => expect(tile).toEqual(treeHash(leaves.slice(i * 256, (i + 1) * 256))));
      }),
      { numRuns: 60 },
    );
  });

  it('does not grow over a record that is missing', () => {
    const { tree } = grown(3);
    expect(growTree(tree, [{ seq: 5, digest: digestOf(4) }]).size).toBe(3);
  });

  it('proves each of its leaves, and no other leaf, place or size', () => {
    const all = new Map(leaves.map((leaf, i) => [i, leaf]));
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), (size, at, other) => {
        const index = at % size;
        const { tree, tiles } = grown(size);
        const path = inclusionPath(index, size, rangesOf(tiles, all));
        const rootWith = (leaf: Buffer, i: number, n: number): Buffer | null => rootOfInclusion(leaf, i, n, path);
        expect(rootWith(leafHash(leaves[index]!), index, size)).toEqual(tree.root);
        const wrong = other % size;
        if (wrong !== index) expect(rootWith(leafHash(leaves[wrong]!), index, size)).not.toEqual(tree.root);
        if (wrong !== index) expect(rootWith(leafHash(leaves[index]!), wrong, size)).not.toEqual(tree.root);
        if (path.length > 0)
          expect(rootOfInclusion(leafHash(leaves[index]!), index, size, path.slice(1))).not.toEqual(tree.root);
      }),
      { numRuns: 80 },
    );
  });

  it('proves of each earlier tree that it is its beginning, and of no other', () => {
    const all = new Map(leaves.map((leaf, i) => [i, leaf]));
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(255), (size, at, bit) => {
        const first = 1 + (at % size);
        const { tree, tiles } = grown(size);
        const path = consistencyPath(first, size, rangesOf(tiles, all));
        const earlier = { size: first, root: grown(first).tree.root };
        const now = { size, root: tree.root };
        expect(isConsistent(earlier, now, path)).toBe(true);
        const changed = Buffer.from(earlier.root);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        expect(isConsistent({ size: first, root: changed }, now, path)).toBe(false);
        expect(isConsistent(earlier, { size, root: changed }, path)).toBe(false);
        if (path.length > 0) expect(isConsistent(earlier, now, path.slice(0, -1))).toBe(false);
      }),
      { numRuns: 80 },
    );
  });

  it('is the same as a tree that never was stored', () => {
    const tree = new GrowingTree();
    leaves.forEach((leaf) => tree.push(leafHash(leaf)));
    expect(tree.root()).toEqual(grown(leaves.length).tree.root);
  });
});

describe('proofs of an audit', () => {
  let telemetry: ServiceHarness;
  let keys: unknown[];
  let first: Checkpoint;
  const env = { COUNTERSIGN_KAFKA_PARTITIONS: '2' };
  const { callIds, facts } = runFacts('acme', newId('run'), 31);
  beforeAll(async () => {
    telemetry = await openTelemetry({ env });
    keys = await keysOf(telemetry);
    await reduceFacts(telemetry, factsOfRuns('acme', 30));
    [first] = (await checkpointsOf(telemetry, 'acme')) as [Checkpoint];
    await reduceFacts(telemetry, [...facts, ...factsOfRuns('acme', 20, 32)]);
    await checkpointsOf(telemetry, 'acme');
  });
  afterAll(() => telemetry.close());
  const prove = <T>(question: object, tenant = 'acme'): Promise<T> => telemetry.read('proof', { tenant, ...question });

  it('each record of a run is proved by its id, a call by its terminal record; a changed one is not (G11)', async () => {
    const { items } = await telemetry.read<{ items: { id: string; type: string }[] }>('audit', {
      tenant: 'acme',
      runId: facts[0]!.message.runId,
    });
    for (const { id } of items) {
      const proof = await prove<InclusionProof>({ eventId: id });
      expect(checkProof(proof, { keys })).toMatchObject({ holds: true, ledger: proof.ledger });
      const record = { ...(proof.record as object), time: '2025-01-01T00:00:00.000Z' };
      expect(checkProof({ ...proof, record }, { keys })).toMatchObject({ holds: false });
    }
    for (const callId of callIds) {
      const proof = await prove<InclusionProof>({ callId });
      expect(checkProof(proof, { keys })).toMatchObject({ holds: true });
      expect(proof.record).toMatchObject({ subject: callId, type: 'dev.countersign.call.settled.v1' });
    }
  });

  it('a proof signed by others, of another place, with another path or checkpoint does not hold', async () => {
    const proof = await prove<InclusionProof>({ callId: callIds[0] });
    const others = await openTelemetry();
    const foreign = await keysOf(others);
    await others.close();
    expect(checkProof(proof, { keys: foreign })).toMatchObject({
      reason: expect.stringContaining('not among the keys'),
    });
    const wrong = [
      { ...proof, sequence: proof.sequence + 1 },
      { ...proof, path: proof.path.slice(1) },
      { ...proof, path: [...proof.path].reverse() },
      { ...proof, checkpoint: first.jws },
      { ...proof, ledger: 'acme/9' },
      { kind: 'inclusion' },
      null,
    ];
    for (const each of wrong) expect(checkProof(each, { keys })).toMatchObject({ holds: false });
  });

  it('since a checkpoint that was kept, each ledger only grew; since a forged one it did not', async () => {
    for (const { ledger, size } of first.ledgers) {
      const proof = await prove<ConsistencyProof>({ ledger, from: size });
      expect(proof.size).toBeGreaterThan(size);
      expect(checkProof(proof, { keys, since: first.jws })).toMatchObject({ holds: true, ledger });
      expect(checkProof(proof, { keys, since: proof.checkpoint })).toMatchObject({ holds: false });
      expect(checkProof(proof, { keys })).toMatchObject({ holds: false });
    }
  });

  it('a record that is just recorded is signed to be proved', async () => {
    const { facts: late, callIds: calls } = runFacts('acme', newId('run'), 52);
    await reduceFacts(telemetry, late);
    await telemetry.parts.workers![0]!.drain();
    expect(checkProof(await prove({ callId: calls[0] }), { keys })).toMatchObject({ holds: true });
  });

  it('of another tenant, of a call that is not there, of a ledger that is shorter there is none (G12)', async () => {
    const [{ ledger }] = first.ledgers as [Checkpoint['ledgers'][0]];
    expect(await prove({ callId: callIds[0] }, 'other')).toBeNull();
    expect(await prove({ ledger, from: 1 }, 'other')).toBeNull();
    expect(await prove({ callId: callIds[0]!.replace(/.$/, '9') })).toBeNull();
    expect(await prove({ ledger, from: 1_000_000 })).toBeNull();
    await expect(prove({})).rejects.toThrow();
  });
});
