import type { ToolContract } from '#contracts';
import type { Sql } from '#persistence';
import type { QuarantinedTool } from '../quarantine.ts';
import type { ToolHistoryEntry } from '../tool-changes.port.ts';
import type { Standing } from './select-published.query.ts';

/** One version of a tool, or with '' all of them. */
export interface ToolPlace {
  readonly tenant: string;
  /** ns.name */
  readonly tool: string;
  readonly version: string;
}

/** One published version there; null = none. */
export async function findPublished(
  sql: Sql,
  { tenant, tool, version }: ToolPlace,
): Promise<{ readonly digest: string } | null> {
  const rows = await sql.query<{ digest: string }>({
    name: 'find-published',
    text: `select digest from tool_version where tenant = $1 and tool = $2 and $3 in ('', version) limit 1`,
    values: [tenant, tool, version],
  });
  return rows[0] ?? null;
}

/** @returns whether it is another than it was */
export async function setStanding(sql: Sql, place: ToolPlace, standing: Standing | null): Promise<boolean> {
  const values = [place.tenant, place.tool, place.version];
  const changed =
    standing === null
      ? await sql.change({
          name: 'clear-standing',
          text: `delete from tool_standing where tenant = $1 and tool = $2 and version = $3`,
          values,
        })
      : await sql.change({
          name: 'set-standing',
          text: `insert into tool_standing (tenant, tool, version, standing) values ($1, $2, $3, $4)
                 on conflict (tenant, tool, version) do update set standing = excluded.standing
                  where tool_standing.standing <> excluded.standing`,
          values: [...values, standing],
        });
  return changed > 0;
}

export async function insertChange(
  sql: Sql,
  { tenant, tool, version }: ToolPlace,
  change: Pick<ToolHistoryEntry, 'change' | 'digest' | 'by' | 'reason'>,
): Promise<ToolHistoryEntry> {
  const rows = await sql.query<{ changeNo: number }>({
    name: 'insert-tool-change',
    text: `insert into tool_change (tenant, tool, version, change, digest, changed_by, reason)
           values ($1, $2, $3, $4, $5, $6, $7) returning change_no as "changeNo"`,
    values: [tenant, tool, version, change.change, change.digest, change.by, change.reason],
  });
  return { ...change, tool, version, changeNo: rows[0]!.changeNo };
}

/** Newest first. @param version '' = of all versions. @param before a change's number; null = from the newest on */
export const selectChanges = (
  sql: Sql,
  { tenant, tool, version }: ToolPlace,
  before: number | null,
  limit: number,
): Promise<ToldChange[]> =>
  sql.query<ToldChange & { readonly [key: string]: unknown }>({
    name: 'select-tool-changes',
    text: `select change_no as "changeNo", tool, version, change, digest, changed_by as by, reason, changed_at as at
             from tool_change
            where tenant = $1 and tool = $2 and ($3 = '' or version in ('', $3))
              and ($4::bigint is null or change_no < $4)
            order by change_no desc limit $5`,
    values: [tenant, tool, version, before, limit],
  });

export interface ToldChange extends ToolHistoryEntry {
  readonly at: Date;
}

/** Of all tenants: policy and the executors hold it in memory. */
export const selectQuarantined = (sql: Sql): Promise<QuarantinedTool[]> =>
  sql.query<QuarantinedTool & { readonly [key: string]: unknown }>({
    name: 'select-quarantined',
    text: `select tenant, tool, version from tool_standing where standing = 'quarantined'`,
  });

export interface ToolReview {
  /** ns.name */
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly contract: ToolContract;
  readonly author: string;
  readonly change: string;
  readonly proposedAt: Date;
}

const REVIEW = `tool, version, digest, body as contract, author, change, proposed_at as "proposedAt"`;

export const selectReviews = (sql: Sql, tenant: string, limit: number): Promise<ToolReview[]> =>
  sql.query<ToolReview>({
    name: 'select-reviews',
    text: `select ${REVIEW} from tool_review where tenant = $1 order by proposed_at, tool, version limit $2`,
    values: [tenant, limit],
  });

export async function holdReview(sql: Sql, { tenant, tool, version }: ToolPlace): Promise<ToolReview | null> {
  const rows = await sql.query<ToolReview>({
    name: 'hold-review',
    text: `select ${REVIEW} from tool_review where tenant = $1 and tool = $2 and version = $3 for update`,
    values: [tenant, tool, version],
  });
  return rows[0] ?? null;
}

/** The same version proposed anew takes the place of what waited: nobody has approved it yet. @returns whether it is another content */
export async function putReview(
  sql: Sql,
  { tenant, tool, version }: ToolPlace,
  review: Pick<ToolReview, 'digest' | 'contract' | 'author' | 'change'>,
): Promise<boolean> {
  const changed = await sql.change({
    name: 'put-review',
    text: `insert into tool_review (tenant, tool, version, digest, body, author, change) values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (tenant, tool, version)
           do update set digest = excluded.digest, body = excluded.body, author = excluded.author,
                         change = excluded.change, proposed_at = now()
            where tool_review.digest <> excluded.digest`,
    values: [tenant, tool, version, review.digest, JSON.stringify(review.contract), review.author, review.change],
  });
  return changed > 0;
}

export async function removeReview(sql: Sql, { tenant, tool, version }: ToolPlace): Promise<void> {
  await sql.change({
    name: 'remove-review',
    text: `delete from tool_review where tenant = $1 and tool = $2 and version = $3`,
    values: [tenant, tool, version],
  });
}

export const selectRevisions = (sql: Sql): Promise<{ readonly tenant: string; readonly revision: number }[]> =>
  sql.query<{ readonly tenant: string; readonly revision: number }>({
    name: 'select-registry-revisions',
    text: `select tenant, revision from registry_revision`,
  });
