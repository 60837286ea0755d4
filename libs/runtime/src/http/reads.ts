import { z } from 'zod';
import { issueDetails } from '#contracts';
import { CountersignError, InfrastructureError, parseJson, type ErrorDetail } from '#kernel';
import type { ReadPort, Reads, ServiceName } from '../door.ts';
import type { PlatformSettings } from '../platform.settings.ts';

/**
 * Questions to other services: straight to the port when it lives in this process, else by internal HTTP.
 * The answer is copied either way (JSON), so that no reference crosses a service's border.
 */
export class ServiceReads implements Reads {
  readonly #local = new Map<ServiceName, ReadPort>();
  readonly #settings: PlatformSettings;

  constructor(settings: PlatformSettings) {
    this.#settings = settings;
  }

  register(service: ServiceName, port: ReadPort): void {
    this.#local.set(service, port);
  }

  async read<T>(service: ServiceName, question: string, args: object): Promise<T> {
    const port = this.#local.get(service);
    if (port) return JSON.parse(JSON.stringify((await answer(port, question, args)) ?? null)) as T;
    const base = this.#settings[urlName(service)];
    if (base === undefined) throw new InfrastructureError(`${urlName(service)} is not set: ${service} cannot be asked`);
    return (await ask(
      new URL(`/reads/${service}/${question}`, base),
      args,
      this.#settings.COUNTERSIGN_INTERNAL_TOKEN,
    )) as T;
  }

  /** For the HTTP side. */
  async answerLocal(service: string, question: string, args: object): Promise<unknown> {
    const port = this.#local.get(service as ServiceName);
    if (!port) throw new CountersignError('NOT_FOUND', `${service} does not live in this process`);
    return (await answer(port, question, args)) ?? null;
  }
}

type UrlName = Extract<keyof PlatformSettings, `COUNTERSIGN_${string}_URL`>;
const urlName = (service: ServiceName): UrlName =>
  `COUNTERSIGN_${service.toUpperCase().replaceAll('-', '_')}_URL` as UrlName;

/** @throws CountersignError INVALID_ARGS, with paths, for a question of the wrong shape: what callers give may end up in it */
async function answer(port: ReadPort, question: string, args: object): Promise<unknown> {
  if (!Object.hasOwn(port, question)) throw new CountersignError('NOT_FOUND', `no such question: ${question}`);
  try {
    return await port[question]!(args as never);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw unfit(issueDetails(error.issues));
  }
}

function unfit(details: readonly ErrorDetail[]): CountersignError {
  const [first] = details;
  const where = first ? `: ${first.path} ${first.message ?? ''}` : '';
  return new CountersignError('INVALID_ARGS', `The question does not fit${where}`, { details: [...details] });
}

const refusalSchema = z.object({
  error: z.literal('INVALID_ARGS'),
  details: z.array(z.object({ path: z.string(), rule: z.string(), message: z.string().optional() })).min(1),
});

const TIMEOUT_MS = 5_000;

async function ask(url: URL, args: object, token: string | undefined): Promise<unknown> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(args),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new InfrastructureError(`${url.host} does not answer`, cause);
  }
  if (response.status >= 500) throw new InfrastructureError(`${url.pathname} answered ${response.status}`);
  if (response.status === 400) {
    const refusal = refusalSchema.safeParse(parseJson(bytes));
    if (refusal.success) throw unfit(refusal.data.details as ErrorDetail[]);
  }
  if (response.status !== 200) throw new CountersignError('INTERNAL', `${url.pathname} answered ${response.status}`);
  return parseJson(bytes, { maxBytes: 16_777_216, maxDepth: 128 });
}
