export * from './clock.ts';
export * from './digest.ts';
export * from './errors.ts';
export * from './fault-points.ts';
export * from './ids.ts';
export * from './parse-json.ts';
