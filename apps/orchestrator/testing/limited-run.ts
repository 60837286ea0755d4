import type { Budgets } from '#contracts';
import { callIdOf } from '#kernel';
import { BUDGETS, settledData } from './fixtures.ts';
import { RUN_ID, Scene } from './scene.ts';

export const id = (n: number): string => callIdOf(RUN_ID, n);
export const alerts = (service = 'a'): [string, unknown] => ['ops__read_alerts', { service }];
export const flag = (name = 'a'): [string, unknown] => ['ops__set_flag', { name }];
export const view = (model: string) => ({ model, result: resultOf(model) });
const resultOf = (model: string) => ({
  ...settledData({ model }).result!,
  sanitizedDigest: `sha256:${Buffer.from(model).toString('hex').padEnd(64, '0').slice(0, 64)}`,
  // The text for the model names its call: no two are equal, whatever came of them.
  modelDigest: `sha256:${String(++shown).padStart(64, '0')}`,
});
let shown = 0;

export function begin(budgets: Partial<Budgets>, driver: 'agent' | 'client' = 'agent'): Scene {
  const scene = new Scene();
  scene.start(driver, { budgets: { ...BUDGETS, ...budgets } });
  return scene;
}
export const end = (scene: Scene) => scene.all('RunEnded').at(-1)!.data;
