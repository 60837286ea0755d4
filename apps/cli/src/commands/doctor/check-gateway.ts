import { GatewayClient, unreachable } from '../../client/gateway-client.ts';
import { wrong, type Finding } from './finding.ts';

const PATIENCE_MS = 5_000;

/** The gateway answers, and knows the credential. */
export async function checkGateway(url: string, token: string | undefined): Promise<Finding[]> {
  const check = 'gateway';
  let version: string | undefined;
  try {
    const response = await fetch(new URL('/version', url), { signal: AbortSignal.timeout(PATIENCE_MS) });
    const answer = (await response.json().catch(() => null)) as { name?: string; version?: string } | null;
    if (answer?.name === 'countersign') version = answer.version;
  } catch (error) {
    return [
      wrong(
        check,
        new Error(unreachable(url, error).message.split(':').slice(0, -1).join(':')),
        'start it ("countersign dev"), or name another with --url or COUNTERSIGN_URL',
      ),
    ];
  }
  if (version === undefined)
    return [
      wrong(check, new Error(`${url} answers, but is no Countersign gateway`), 'correct --url or COUNTERSIGN_URL'),
    ];
  const here: Finding = { check, state: 'ok', found: `version ${version} at ${url}` };
  if (token === undefined)
    return [here, { check: 'credential', state: 'skipped', found: 'neither --token nor COUNTERSIGN_TOKEN is given' }];
  try {
    const { items } = await new GatewayClient(url, token).get<{ items: unknown[] }>('/v1/tools');
    return [here, { check: 'credential', state: 'ok', found: `accepted; ${items.length} tools are live` }];
  } catch (error) {
    return [here, wrong('credential', error, 'give another with --token or COUNTERSIGN_TOKEN')];
  }
}
