import { isRead, type Reconcile, type ToolContract } from '#contracts';
import type { PublishFault } from '../check-publishable.ts';
import { placeholders, urlFaults } from './execution.rules.ts';
import { propertiesOf, unknownArgument } from './schema.rules.ts';

const KEY = 'operationKey';

/** How a tool says that it can be asked afterwards, and what holds meanwhile. */
export function reconcileFaults(contract: ToolContract): PublishFault[] {
  const { reconcile, onUnknown, execution } = contract;
  const faults: PublishFault[] = [];
  const fault = (path: string, rule: string, message: string): void => void faults.push({ path, rule, message });
  if (isRead(contract)) {
    const message = 'is for writes: a read is simply repeated; remove it';
    if (reconcile) fault('/reconcile', 'read', message);
    if (onUnknown) fault('/onUnknown', 'read', message);
    return faults;
  }
  if (!reconcile) return faults;
  if (!reconcile.http && execution.kind !== 'local')
    fault('/reconcile/http', 'required', 'is missing: only a local tool has a reconcile function; name the request');
  if (reconcile.capMs < reconcile.firstMs)
    fault('/reconcile/capMs', 'order', 'is less than firstMs: the pauses grow from firstMs to capMs');
  return reconcile.http ? [...faults, ...httpProbeFaults(reconcile, reconcile.http, contract)] : faults;
}

function httpProbeFaults(
  reconcile: Reconcile,
  http: NonNullable<Reconcile['http']>,
  { input }: ToolContract,
): PublishFault[] {
  const path = '/reconcile/http';
  const properties = propertiesOf(input);
  const faults = urlFaults(http.url, `${path}/url`, properties, [KEY]);
  const fault = (where: string, rule: string, message: string): void =>
    void faults.push({ path: where, rule, message });
  if (Object.hasOwn(properties, KEY))
    fault(`${path}/url`, 'known', `"{${KEY}}" names both an argument and the key of the write: rename the argument`);
  for (const [name, value] of Object.entries(http.headers ?? {})) {
    for (const used of placeholders(value))
      if (used !== KEY && !Object.hasOwn(properties, used))
        faults.push(unknownArgument(`${path}/headers/${name}`, used, properties));
  }
  for (const rule of ['applied', 'notApplied', 'partly'] as const) {
    if (http[rule]?.values && http[rule].pointer === undefined)
      fault(`${path}/${rule}/pointer`, 'required', 'is missing: say where in the answer the values stand');
  }
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  if (
    same(http.applied, http.notApplied) ||
    same(http.applied, http.partly) ||
    (http.partly && same(http.notApplied, http.partly))
  )
    fault(path, 'distinct', 'two of applied, notApplied and partly are the same: nothing could be told from an answer');
  if (reconcile.final && !http.notApplied)
    fault('/reconcile/final', 'notApplied', 'says that "not applied" is final, but no answer says it: give notApplied');
  if (http.partly && !reconcile.partialEffect)
    fault('/reconcile/partialEffect', 'partly', 'must be true where an answer can say "partly"');
  return faults;
}
