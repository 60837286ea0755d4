export * from './door.ts';
export * from './embedded/embedded-postgres.ts';
export * from './log.ts';
export * from './settings.ts';
