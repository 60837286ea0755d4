export * from './lock.port.ts';
