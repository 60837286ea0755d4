import { FAULT_POINTS, type FaultPoint } from '#kernel';
import { SERVICE_NAMES, type ServiceName } from '#runtime';

/** A place at which one process is stopped: `<service>.<point>`. */
export interface Place {
  readonly service: ServiceName;
  /** As an order names it. */
  readonly name: string;
}
export type Mode = 'embedded' | 'stack';

/** Which services pass which points with an ordinary load. */
const PASSED_BY: Record<FaultPoint, readonly ServiceName[]> = {
  'before-commit': ['orchestrator', 'policy', 'executor', 'model-adapter', 'telemetry'],
  'after-commit': ['orchestrator', 'policy', 'executor', 'model-adapter', 'telemetry'],
  'before-intent': ['executor'],
  'after-intent': ['executor'],
  'before-outcome': ['executor'],
  'after-outcome': ['executor'],
  'before-publish': ['gateway', 'orchestrator', 'policy', 'executor', 'model-adapter', 'telemetry'],
  'after-publish': ['gateway', 'orchestrator', 'policy', 'executor', 'model-adapter', 'telemetry'],
  'before-acknowledge': ['orchestrator', 'policy', 'executor', 'model-adapter'],
  'after-acknowledge': ['orchestrator', 'policy', 'executor', 'model-adapter'],
  received: SERVICE_NAMES,
  handled: SERVICE_NAMES,
  'before-offset-commit': ['orchestrator', 'policy', 'executor', 'model-adapter', 'state-store', 'telemetry'],
  'after-offset-commit': ['orchestrator', 'policy', 'executor', 'model-adapter', 'state-store', 'telemetry'],
  'before-lock-take': ['executor'],
  'after-lock-take': ['executor'],
  'before-lock-renew': ['executor'],
  'after-lock-renew': ['executor'],
  'before-lock-release': ['executor'],
  'after-lock-release': ['executor'],
  'before-send': ['executor', 'model-adapter'],
  sending: ['executor'],
  'after-answer': ['executor', 'model-adapter'],
  'before-views': ['executor'],
  'after-views': ['executor'],
};
/** A lock is renewed after a third of its life: only a tool that hangs so long passes there. */
const SELDOM: readonly FaultPoint[] = ['before-lock-renew', 'after-lock-renew'];
const ONLY_ON_KAFKA: readonly FaultPoint[] = ['before-offset-commit', 'after-offset-commit'];

export function placesOf(mode: Mode): Place[] {
  return FAULT_POINTS.filter((point) => !SELDOM.includes(point))
    .filter((point) => mode === 'stack' || !ONLY_ON_KAFKA.includes(point))
    .flatMap((point) =>
      PASSED_BY[point].map((service) => {
        const name = point.includes('lock') ? `locks.${point}` : `${service}.${point}`;
        return { service, name };
      }),
    );
}
