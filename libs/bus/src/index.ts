export * from './bus.port.ts';
