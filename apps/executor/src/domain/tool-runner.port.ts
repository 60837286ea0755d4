import type { ResultViews, ToolContract } from '#contracts';
import type { Runner } from '#tools';

export type { RunOutcome, RunRequest, StopRequest } from '#tools';

/** What the executor needs of `#tools`: one attempt at one call, and the views of its result. */
export type ToolRunner = Pick<Runner, 'run'>;

export type ViewMaker = (
  contract: ToolContract,
  value: unknown,
  raw: Buffer,
  about: { readonly callId: string; readonly tool: string; readonly tenant: string },
) => ResultViews | Promise<ResultViews>;
