export { checkRedis } from './redis/check-redis.ts';
export * from './create-locks.ts';
export * from './lock.port.ts';
