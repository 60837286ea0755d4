import type { ResultViews, ToolContract } from '#contracts';
import type { Runner } from '#tools';

export type { ProbeOutcome, ProbeRequest, RunOutcome, RunRequest, StopRequest } from '#tools';

/** What the executor needs of `#tools`: one attempt at one call, a look at what became of it, and the views of its result. */
export type ToolRunner = Pick<Runner, 'run' | 'probe'>;

export type ViewMaker = (
  contract: ToolContract,
  value: unknown,
  raw: Buffer,
  about: { readonly callId: string; readonly tool: string; readonly tenant: string },
) => ResultViews | Promise<ResultViews>;
