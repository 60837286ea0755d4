export * from './create-locks.ts';
export * from './lock.port.ts';
