export * from './boot/open-services.ts';
export * from './boot/run-services.ts';
export * from './door.ts';
export * from './embedded/embedded-postgres.ts';
export * from './http/reads.ts';
export * from './log.ts';
export * from './platform.settings.ts';
export * from './settings.ts';
