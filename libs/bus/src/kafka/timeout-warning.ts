type Emitter = Pick<NodeJS.Process, 'emitWarning'>;

const silenced = new WeakSet<Emitter>();

/**
 * kafkajs 2.2.4 asks for timers in the past, which Node turns into 1 ms and warns about. Harmless, and many:
 * this one warning is dropped, every other one passes.
 */
export function silenceNegativeTimeouts(target: Emitter = process): void {
  if (silenced.has(target)) return;
  silenced.add(target);
  const emit = target.emitWarning.bind(target) as (...args: unknown[]) => void;
  target.emitWarning = ((warning: unknown, ...rest: unknown[]) => {
    const [second] = rest;
    const type = typeof second === 'string' ? second : (second as { type?: string } | undefined)?.type;
    if (type !== 'TimeoutNegativeWarning') emit(warning, ...rest);
  }) as Emitter['emitWarning'];
}
