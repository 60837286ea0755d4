import { digestJson } from '#kernel';

/** What RunEnded says of a run's calls: one digest over all callIds, sorted, so that anyone can check that none is missing (G11). */
export const callsDigest = (callIds: readonly string[]): string => digestJson('calls/v1', [...callIds].sort());
