/** How two contracts of a tool differ, from nothing to most: the kind of a whole diff is that of its gravest change. */
export const CHANGE_KINDS = ['identical', 'text_only', 'compatible', 'narrowing', 'widening', 'effect_change'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
