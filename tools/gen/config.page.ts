import { z } from 'zod';
import { platformSettings, type SettingsShape } from '#runtime';
import { cliSettings } from '../../apps/cli/src/cli.config.ts';
import { executorSettings } from '../../apps/executor/src/executor.config.ts';
import { gatewaySettings } from '../../apps/gateway/src/gateway.config.ts';
import type { JsonSchema } from '../../apps/gateway/src/openapi/schema-shelf.ts';
import { modelAdapterSettings } from '../../apps/model-adapter/src/model-adapter.config.ts';
import { orchestratorSettings } from '../../apps/orchestrator/src/orchestrator.config.ts';
import { policySettings } from '../../apps/policy/src/policy.config.ts';
import { stateStoreSettings } from '../../apps/state-store/src/state-store.config.ts';
import { telemetrySettings } from '../../apps/telemetry/src/telemetry.config.ts';
import { typeText } from './field-rows.ts';
import { code, page, table } from './markdown.ts';

/** By service, in the order of the page. */
export const SERVICE_SETTINGS: Readonly<Record<string, SettingsShape>> = {
  gateway: gatewaySettings,
  orchestrator: orchestratorSettings,
  'model-adapter': modelAdapterSettings,
  policy: policySettings,
  executor: executorSettings,
  'state-store': stateStoreSettings,
  telemetry: telemetrySettings,
};

/** config.md: every environment variable that is read. */
export function configPage(): string {
  const own = (shape: SettingsShape): SettingsShape =>
    Object.fromEntries(Object.entries(shape).filter(([name]) => !(name in platformSettings)));
  return page(
    'Configuration',
    'Settings are environment variables, read once at the start. A bad value, or a `COUNTERSIGN_…` variable that is none of these, stops the start with all faults in one message. Services that run in one process read the same variables.',
    '## Every process',
    settingsTable(platformSettings),
    ...Object.entries(SERVICE_SETTINGS).flatMap(([name, shape]) => [`## ${name}`, settingsTable(own(shape))]),
    '## The command line',
    'Flags go before variables.',
    settingsTable(cliSettings),
  );
}

function settingsTable(shape: SettingsShape): string {
  return table(
    ['variable', 'default', 'takes', 'meaning'],
    Object.entries(shape).map(([name, setting]) => {
      const schema = z.toJSONSchema(setting, { io: 'input' }) as JsonSchema;
      return [code(name), defaultText(schema), typeText(schema), setting.description ?? ''];
    }),
  );
}

const defaultText = (schema: JsonSchema): string =>
  schema.default === undefined ? 'not set' : schema.default === '' ? 'empty' : code(String(schema.default));
