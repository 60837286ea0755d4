/**
 * Named places at which a fault test may stop a process. Nothing is armed outside such a test: a place then costs one
 * property read (`faults.at?.(…)` does not even look at its arguments).
 *
 * F1 a place stands directly before and after each step that others can see: a commit, a publish, an offset, a lock, a request;
 * F2 a place only tells where the process is: it changes nothing, and nothing waits for it.
 */
export const FAULT_POINTS = [
  'before-commit',
  'after-commit',
  'before-intent',
  'after-intent',
  'before-outcome',
  'after-outcome',
  'before-publish',
  'after-publish',
  'before-acknowledge',
  'after-acknowledge',
  'received',
  'handled',
  'before-offset-commit',
  'after-offset-commit',
  'before-lock-take',
  'after-lock-take',
  'before-lock-renew',
  'after-lock-renew',
  'before-lock-release',
  'after-lock-release',
  'before-send',
  'sending',
  'after-answer',
  'before-views',
  'after-views',
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

/** `where` names the service, or the consumer group, whose step it is. */
export type AtFaultPoint = (where: string, point: FaultPoint) => void;

export const faults: { at: AtFaultPoint | null } = { at: null };
