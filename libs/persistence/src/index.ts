export * from './database.ts';
export * from './migrate/migrate.ts';
export * from './outbox/outbox.ts';
