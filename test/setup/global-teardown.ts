import { RUNNING, type Running } from './global-setup.ts';

export default async function teardown(): Promise<void> {
  await (globalThis as Running)[RUNNING]?.();
}
