import type { Output } from '../../output/output.ts';

export interface DiffView {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly changes: readonly { readonly path: string; readonly kind: string; readonly message: string }[];
}

export function printDiff(out: Output, { from, to, kind, changes }: DiffView): void {
  const grave = kind === 'effect_change' || kind === 'widening';
  out.line(`${from} → ${to}: ${out.paint(grave ? 'bad' : kind === 'identical' ? 'good' : 'wait', kind)}`);
  if (changes.length === 0) return;
  const columns = [
    { title: 'WHERE', of: (change: DiffView['changes'][number]) => change.path },
    { title: 'KIND', of: (change: DiffView['changes'][number]) => change.kind },
    { title: 'WHAT', of: (change: DiffView['changes'][number]) => change.message },
  ];
  out.table(columns, changes, '');
}
