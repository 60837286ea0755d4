import type { KeyObject } from 'node:crypto';
import { importPublicKey, type PublicKeyJwk } from './signing-key.ts';

/** Answer of policy's read question `publicKeys`. */
export interface PublicKeySet {
  readonly keys: readonly PublicKeyJwk[];
  /** Key ids that must never verify again. */
  readonly revoked?: readonly string[];
}

export interface KeyRingOptions {
  /** Asks policy for its public keys. Its errors (policy is away) are handed on: hold the work and try again. */
  readonly fetch?: () => Promise<PublicKeySet>;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Milliseconds between two fetches at least, so that forged key ids cannot flood policy; default 5000. */
  readonly minFetchMs?: number;
}

/**
 * Public keys by key id.
 * K1 only keys that policy published verify; a token never brings its own.
 * K2 an unknown key id asks policy, at most once in `minFetchMs`; concurrent askers share one answer.
 * K3 a revoked key id refuses, at once and for ever.
 */
export class KeyRing {
  readonly #keys = new Map<string, KeyObject>();
  readonly #revoked = new Set<string>();
  readonly #options: KeyRingOptions;
  readonly #now: () => number;
  #lastFetch = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | null = null;

  constructor(options: KeyRingOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** @throws when the JWK is no Ed25519 public key or its kid is not its thumbprint */
  add(jwk: PublicKeyJwk): void {
    const { kid, key } = importPublicKey(jwk);
    this.#keys.set(kid, key);
  }

  revoke(kid: string): void {
    this.#revoked.add(kid);
    this.#keys.delete(kid);
  }

  /** The key when it is here and not revoked; asks nobody. */
  known(kid: string): KeyObject | undefined {
    return this.#revoked.has(kid) ? undefined : this.#keys.get(kid);
  }

  /** The key, after asking policy when it is not known. @throws what `fetch` throws */
  async find(kid: string): Promise<KeyObject | undefined> {
    if (this.#revoked.has(kid)) return undefined;
    const key = this.#keys.get(kid);
    if (key || !this.#options.fetch) return key;
    this.#fetching ??= this.#fetchOnce(this.#options.fetch).finally(() => {
      this.#fetching = null;
    });
    await this.#fetching;
    return this.known(kid);
  }

  async #fetchOnce(fetch: () => Promise<PublicKeySet>): Promise<void> {
    if (this.#now() - this.#lastFetch < (this.#options.minFetchMs ?? 5000)) return;
    const set = await fetch();
    this.#lastFetch = this.#now(); // a failed fetch does not count: policy was away, nobody was flooded
    for (const kid of set.revoked ?? []) this.revoke(kid);
    for (const jwk of set.keys) if (!this.#revoked.has(jwk.kid)) this.add(jwk);
  }
}
