import fc from 'fast-check';
import { hashRecord } from '#contracts';
import { LedgerFollower, type FollowedRecord } from '#audit';

/** A ledger's texts, as telemetry writes them. */
function ledgerOf(ledger: string, size: number): string[] {
  const texts: string[] = [];
  for (let sequence = 1; sequence <= size; sequence++) {
    const before = texts.at(-1);
    texts.push(
      JSON.stringify({
        specversion: '1.0',
        type: 'dev.countersign.run.started.v1',
        ledger,
        sequence: String(sequence),
        ...(before === undefined ? {} : { previousdigest: `sha256:${hashRecord(before).toString('hex')}` }),
        data: { tenant: ledger.split('/')[0], run_no: sequence },
      }),
    );
  }
  return texts;
}
const feed = (follower: LedgerFollower, texts: readonly string[]) => {
  const all = texts.map((text) => follower.add(text));
  return { records: all.flatMap(({ records }) => records), faults: all.flatMap(({ faults }) => faults) };
};
const texts = (records: readonly FollowedRecord[]): string[] => records.map(({ text }) => text);

describe('following ledgers as they grow (G11)', () => {
  it('in any order, with repeats, and over restarts at any place, each record comes out once and in its place (property)', () => {
    const ledger = ledgerOf('dev/3', 12);
    const deliveries = fc
      .array(fc.nat(11), { maxLength: 30 })
      .chain((repeats) => fc.shuffledSubarray([...ledger.keys(), ...repeats], { minLength: 12 + repeats.length }));
    fc.assert(
      fc.property(deliveries, fc.nat(40), (order, restartAt) => {
        const first = new LedgerFollower();
        const taken = feed(
          first,
          order.slice(0, restartAt).map((at) => ledger[at]!),
        );
        const position = taken.records.at(-1);
        // What waited was not committed: it comes again.
        const second = new LedgerFollower(position ? [position] : []);
        const rest = feed(
          second,
          order.map((at) => ledger[at]!),
        );
        expect([...taken.faults, ...rest.faults]).toEqual([]);
        expect(texts([...taken.records, ...rest.records])).toEqual(ledger);
        expect(second.waits).toBe(false);
      }),
    );
  });

  it('ledgers do not disturb each other, and checkpoints pass', () => {
    const [one, other] = [ledgerOf('dev/0', 3), ledgerOf('acme/0', 3)];
    const checkpoint = JSON.stringify({
      type: 'dev.countersign.audit.checkpoint.v1',
      data: { tenant: 'dev', jws: 'x' },
    });
    const follower = new LedgerFollower();
    const { records, faults } = feed(follower, [
      one[0]!,
      other[0]!,
      checkpoint,
      other[1]!,
      one[1]!,
      one[2]!,
      other[2]!,
    ]);
    expect(faults).toEqual([]);
    expect(records).toHaveLength(6);
  });

  it('what was changed, is missing, or is there twice is told, and still comes out', () => {
    const ledger = ledgerOf('dev/0', 6);
    const changed = ledger.map((text, at) => (at === 1 ? text.replace('"run_no":2', '"run_no":9') : text));
    expect(feed(new LedgerFollower(), changed)).toMatchObject({
      records: changed.map((text) => ({ text })),
      faults: [{ kind: 'edited', sequence: 3, ledger: 'dev/0' }],
    });
    const gap = feed(
      new LedgerFollower([], { maxWaiting: 2 }),
      ledger.filter((_, at) => at !== 1),
    );
    expect(gap.faults).toMatchObject([{ kind: 'deleted', sequence: 2 }]);
    expect(gap.records).toHaveLength(5);
    const forked = feed(new LedgerFollower(), [ledger[0]!, ledger[0]!.replace('"run_no":1', '"run_no":9')]);
    expect(forked.faults).toMatchObject([{ kind: 'forked', sequence: 1 }]);
    expect(feed(new LedgerFollower(), ['{']).faults).toMatchObject([{ kind: 'unreadable' }]);
  });
});
