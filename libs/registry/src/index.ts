export * from './check-publishable.ts';
export * from './contract-cache.ts';
export * from './contract-digest.ts';
export * from './contract.store.ts';
export * from './validator.ts';
export * from './diff/index.ts';
export * from './quarantine.ts';
export * from './tool-shelf.store.ts';
