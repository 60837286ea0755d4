export * from './database.ts';
export * from './database-clock.ts';
export { migrate, readMigrations, type Migration } from './migrate/migrate.ts';
export * from './migrate/migration-state.ts';
export * from './outbox/outbox.ts';
