export * from './grant-claims.schema.ts';
export * from './key-ring.ts';
export * from './mint-grant.ts';
export * from './signing-key.ts';
export * from './verify-grant.ts';
