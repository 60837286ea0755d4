import { call, say, type Script, type ScriptItem, type ScriptRequest } from '#providers';
import { labelledJson } from '#tools';

/** What the scripted model shall do; the user's text holds it, so that each test carries its own script. */
export type Plan =
  /** One list of calls for each turn; `arguments` is an object, or the exact text. Then it says what it was answered. */
  | { readonly turns: readonly (readonly PlannedCall[])[] }
  /** The same call in each turn, for ever. */
  | { readonly loop: PlannedCall }
  /** Reads the document, then does what stands in it. */
  | { readonly obey: string };
export interface PlannedCall {
  readonly tool: string;
  readonly arguments: unknown;
}

export const planText = (plan: Plan): string => JSON.stringify(plan);

/** A model that plays the plan of its user, and says at the end, word for word, what it was answered and told. */
export const playPlan: Script = (request) => {
  const plan = JSON.parse(request.userTexts[0]!) as Plan;
  if ('loop' in plan) return [asked(plan.loop)];
  const planned = 'obey' in plan ? obey(plan.obey, request) : plan.turns[request.turnNo - 1]?.map(asked);
  const later = request.userTexts.slice(1);
  return planned ?? [say([...request.outputs.map((output) => output.text), ...later].join('\n'))];
};

const asked = ({ tool, arguments: args }: PlannedCall): ScriptItem => call(tool.replace('.', '__'), args);

function obey(documentId: string, request: ScriptRequest): ScriptItem[] | undefined {
  if (request.turnNo === 1) return [call('probe__read_document', { document_id: documentId })];
  if (request.turnNo > 2) return undefined;
  const { text } = JSON.parse(labelledJson(request.outputs[0]!.text)) as { text: string };
  const tool = /probe__[a-z_]+/.exec(text)?.[0];
  const args = /\{.*\}/.exec(text)?.[0];
  return tool && args ? [call(tool, args)] : undefined;
}
