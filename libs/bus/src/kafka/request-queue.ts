import { createRequire } from 'node:module';

/** What kafkajs 2.2.4 keeps for each connection, as far as it is mended here. */
export interface RequestQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  readonly inflight: ReadonlyMap<number, { sentAt: number; requestTimeout: number; timeoutRequest(): void }>;
  readonly enforceRequestTimeout: boolean;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  requestTimeoutIntervalId?: NodeJS.Timeout;
  isConnected(): boolean;
  destroy(): void;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
}

const METHODS = [
  'destroy',
  'checkPendingRequests',
  'scheduleCheckPendingRequests',
  'scheduleRequestTimeoutCheck',
] as const;
/** Requests time out after many seconds: looking each second is close enough. */
const LOOK_MS = 1_000;
const mended = new WeakSet<RequestQueue>();

/**
 * After its first answer each connection of kafkajs 2.2.4 asks, for as long as it lives, for a timer in the past, which
 * Node.js makes 1 ms (and warns about): a thousand wake-ups a second in an idle process. A timer is needed only while
 * the broker throttles: requests over the limit in flight are sent when one of those is answered.
 * It also looks ten times a second, on each connection, for requests that are late.
 */
export function mendRequestQueue(queue: RequestQueue = prototypeOfKafkajs()): void {
  if (mended.has(queue)) return;
  for (const method of METHODS) {
    if (typeof queue[method] !== 'function') throw new TypeError(`kafkajs: the request queue has no ${method}`);
  }
  mended.add(queue);
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    const waitMs = this.throttledUntil - Date.now();
    if (waitMs <= 0 || this.pending.length === 0 || this.throttleCheckTimeoutId) return;
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, waitMs);
  };
  queue.scheduleRequestTimeoutCheck = function (this: RequestQueue) {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    this.requestTimeoutIntervalId = setInterval(() => {
      const now = Date.now();
      for (const request of this.inflight.values()) {
        if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
      }
      if (!this.isConnected()) this.destroy();
    }, LOOK_MS);
  };
}

function prototypeOfKafkajs(): RequestQueue {
  const load = createRequire(import.meta.url);
  return (load('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }).prototype;
}
