import { packageVersion } from '../../apps/gateway/src/adapters/package-version.ts';
import { API } from '../../apps/gateway/src/http/api.table.ts';
import { buildOpenApi } from '../../apps/gateway/src/openapi/build-open-api.ts';
import { auditSchemas } from '../../apps/telemetry/src/domain/audit-schemas.ts';
import { asyncApiDocument } from './async-api.document.ts';
import { configPage } from './config.page.ts';
import { errorsPage } from './errors.page.ts';
import { messagesPage } from './messages.page.ts';

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

/** Name → text of everything below docs/generated, made of the definitions in the code; the same for the same code. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const version = packageVersion();
  return new Map([
    ['messages.md', messagesPage()],
    ['errors.md', errorsPage()],
    ['config.md', configPage()],
    ['openapi.json', json(buildOpenApi(API, version))],
    ['asyncapi.json', json(asyncApiDocument(version))],
    ['audit-events.json', json(auditSchemas())],
  ]);
}
