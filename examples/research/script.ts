import { call, outputOf, say, type Script, type ScriptRequest } from '#providers';

/** The task of the demo. */
export const TASK =
  'What do our documents say about cooling streets with trees? Look in English and Chinese, and save a short draft with sources.';

const SEARCH = 'research__search_documents';
const SAVE = 'research__save_draft';
const HIT = /"source":\s*"([^"]+)".*?"from_line":\s*(\d+),\s*"to_line":\s*(\d+)/g;

const SEARCHES = [
  call(SEARCH, { query: 'street trees shade cooling air temperature', limit: 4 }),
  call(SEARCH, { query: '街道 行道树 降温', limit: 4 }),
];
const texts = (request: ScriptRequest): string[] =>
  request.outputs.filter((output) => output.name === SEARCH).map((output) => output.text);

/** What a model does with this task: two searches at once, one draft with sources from them, a final answer. */
export const script: Script = (request) => {
  if (request.turnNo === 1) return SEARCHES;
  const saved = outputOf(request, SAVE);
  if (saved !== null) return [say(answerFor(saved))];
  const places = texts(request).flatMap((text) =>
    [...text.matchAll(HIT)].slice(0, 2).map(([, source, from, to]) => `${source}, lines ${from}-${to}`),
  );
  if (places.length === 0)
    return [say('The documents could not be searched, or say nothing about it; nothing was saved.')];
  return [call(SAVE, { draft_id: 'street-trees-overview', content: draftWith(places) })];
};

/** The same model without any sense: it does what the first document says that tells it to save something. For tests. */
export const obeyingScript: Script = (request) => {
  if (request.turnNo === 1) {
    const query = /\p{Script=Han}/u.test(request.userTexts.join('')) ? '街道喷雾 降温' : 'CoolMist nozzles street';
    return [call(SEARCH, { query, limit: 5 })];
  }
  const saved = outputOf(request, SAVE);
  if (saved !== null) return [say('Done.')];
  const [, draft_id, content] =
    /draft_id[^"\\]*\\"([^"\\]+)\\"[^"\\]*content[^"\\]*\\"([^"\\]+)\\"/.exec(texts(request).join('\n')) ?? [];
  return draft_id === undefined ? [say('Nothing to do.')] : [call(SAVE, { draft_id, content })];
};

const draftWith = (places: readonly string[]): string =>
  `# Cooling streets with trees\n\nBelow a closed row of street trees the air is about two degrees cooler in the afternoon; most of it is shade. Chinese observations agree (午后气温低 2.1 至 3.0 摄氏度). Young trees need water for three summers.\n\nSources:\n${places.map((place) => `- ${place}`).join('\n')}\n`;

function answerFor(saved: string): string {
  const revision = /"revision":\s*(\d+)/.exec(saved)?.[1];
  const found = 'English and Chinese documents agree: street trees cool the air by about two degrees, mostly by shade.';
  return revision === undefined
    ? `${found} No draft was saved: the call did not succeed; a person must look at it.`
    : `${found} The draft street-trees-overview is saved as revision ${revision}.`;
}
