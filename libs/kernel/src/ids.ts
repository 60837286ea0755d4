import { hash, randomFillSync } from 'node:crypto';

/** Crockford base 32, lower case: sortable, no look-alikes. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RUN_PART = /^[0-9a-hjkmnp-tv-z]{26}$/;

function base32(bytes: Uint8Array, length: number): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      text += ALPHABET[(value >>> (bits - 5)) & 31]!;
      bits -= 5;
    }
    value &= (1 << bits) - 1;
  }
  return text;
}

const RANDOM_BYTES = 10;
/** Chance is drawn for many ids at once: one call of the generator per id is felt. */
const pool = Buffer.alloc(RANDOM_BYTES * 512);
let used = pool.length;

function drawRandom(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.subarray(used, (used += RANDOM_BYTES));
}

/** 26 characters: 10 of time (milliseconds), 16 of chance. Sorts by time. */
export function sortableId(nowMs: number, random: Uint8Array = drawRandom()): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 10; i++) {
    time = ALPHABET[rest % 32]! + time;
    rest = Math.floor(rest / 32);
  }
  return time + base32(random, 16);
}

export type IdPrefix = 'run' | 'appr' | 'stand' | 'msg' | 'cmd' | 'dec' | 'evt' | 'req' | 'tool';

export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  return `${prefix}_${sortableId(nowMs)}`;
}

/** The run that an `Idempotency-Key` names: the same caller, route and key always give the same id. */
export function runIdFromKey(tenant: string, principal: string, route: string, key: string): string {
  return `run_${base32(sha256(['run-id/v1', tenant, principal, route, key]), 26)}`;
}

/** An id derived from its parents, for messages and rows that a repeat must name the same. */
export function derivedId(prefix: IdPrefix, ...parts: readonly (string | number)[]): string {
  return `${prefix}_${base32(sha256(parts), 26)}`;
}

const sha256 = (parts: readonly unknown[]): Buffer => hash('sha256', JSON.stringify(parts), 'buffer');

/**
 * callId = `call_` + the run's own part + `_` + its own number: one run stays on one partition of each internal topic.
 * A client-driven run's callIds are given at the gateway, before anyone knows a number: they carry a digest instead.
 */
export function callIdOf(runId: string, own: number | readonly string[]): string {
  const part = typeof own === 'number' ? String(own).padStart(4, '0') : base32(sha256(own), 12);
  return `call_${runPart(runId)}_${part}`;
}

/** The part of a run id or call id that names the run. Throws on anything else. */
export function runPart(id: string): string {
  const part = id.startsWith('run_') ? id.slice(4) : id.startsWith('call_') ? id.slice(5, 31) : '';
  if (!RUN_PART.test(part)) throw new TypeError(`not a run id or call id: ${id.slice(0, 64)}`);
  return part;
}

export function runIdOfCall(callId: string): string {
  return `run_${runPart(callId)}`;
}

export const RUN_ID_PATTERN = /^run_[0-9a-hjkmnp-tv-z]{26}$/;
export const CALL_ID_PATTERN = /^call_[0-9a-hjkmnp-tv-z]{26}_[0-9a-hjkmnp-tv-z]{4,16}$/;
export const APPROVAL_ID_PATTERN = /^appr_[0-9a-hjkmnp-tv-z]{26}$/;
export const STANDING_ID_PATTERN = /^stand_[0-9a-hjkmnp-tv-z]{26}$/;
