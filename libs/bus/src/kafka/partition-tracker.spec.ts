import { PartitionTracker } from './partition-tracker.ts';

describe('the offsets of a partition (B3)', () => {
  it('become due up to the highest contiguous done record, whatever the order of finishing (T1)', () => {
    const tracker = new PartitionTracker('t', 0);
    const [a, b, c] = [10, 11, 15].map((offset) => tracker.admit(offset)!); // 12–14 were compacted away
    expect(tracker.due()).toBeNull();
    c!.done();
    b!.done();
    expect(tracker.due()).toBeNull();
    a!.done();
    expect(tracker.due()).toBe(16);
    tracker.committed(16);
    expect(tracker.due()).toBeNull();
  });

  it('a record that is fetched again while it is in work, or done, is passed over (T2)', () => {
    const tracker = new PartitionTracker('t', 0);
    tracker.admit(5)!.done();
    tracker.admit(6);
    expect([tracker.admit(5), tracker.admit(6)]).toEqual([null, null]);
    expect(tracker.admit(7)).not.toBeNull();
  });

  it('a lost partition is never committed again, and its records are stale (T3)', () => {
    const tracker = new PartitionTracker('t', 0);
    const [a, b] = [tracker.admit(0)!, tracker.admit(1)!];
    a.done();
    tracker.lose();
    b.done();
    expect(tracker.due()).toBeNull();
    expect(b.isStale).toBe(true);
  });

  it('keeps its place over many records', () => {
    const tracker = new PartitionTracker('t', 0);
    const records = Array.from({ length: 5_000 }, (_, offset) => tracker.admit(offset)!);
    for (const record of records.slice(0, 4_999).toReversed()) record.done();
    expect(tracker.due()).toBe(4_999);
    records.at(-1)!.done();
    expect(tracker.due()).toBe(5_000);
  });
});
