import type { ResultViews } from '#contracts';
import { digestJson, type Json } from '#kernel';
import { findAt, type Segments } from './pointer.ts';

type Evidence = ResultViews['evidence'];

/** Sources that one result may give; more is not evidence. */
const MAX_SOURCES = 500;
const MAX_ID_CHARACTERS = 256;

export const NO_EVIDENCE: Evidence = { resourceIds: [], sources: [] };

const idOf = (value: Json): string | null => {
  const id = typeof value === 'number' ? String(value) : value;
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARACTERS ? id : null;
};

/** Ids that later calls may cite, each with the digest of the item that it names, and the ids of what a write made. */
export function evidenceOf(value: Json, sourceIds: Segments | null, resourceId: Segments | null): Evidence {
  const sources = new Map<string, Evidence['sources'][number]>();
  for (const found of sourceIds === null ? [] : findAt(value, sourceIds)) {
    const id = idOf(found.value);
    if (id === null || sources.has(id)) continue;
    if (sources.size >= MAX_SOURCES) break;
    sources.set(id, { id, digest: digestJson('source/v1', found.parent), locator: found.parentPath });
  }
  return { resourceIds: resourceId === null ? [] : resourceIdsOf(value, resourceId), sources: [...sources.values()] };
}

export function resourceIdsOf(value: Json, resourceId: Segments): string[] {
  const ids = findAt(value, resourceId).map((found) => idOf(found.value));
  return [...new Set(ids.filter((id) => id !== null))].slice(0, MAX_SOURCES);
}
