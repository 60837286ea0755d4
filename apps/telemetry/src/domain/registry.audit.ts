import { digest, name, namespace, number, toolName, word } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';
import { namespaceOf } from './namespace-of.ts';

/** Who put which content into use, or took it out of use. Beside all runs. */
export const REGISTRY_AUDIT = {
  ToolChanged: {
    name: 'tool.changed',
    identity: ({ changeNo, tool, version, change }) => [changeNo, tool, version ?? '', change],
    fields: {
      change_no: number(({ changeNo }) => changeNo),
      change: word(({ change }) => change),
      tool: toolName(({ tool, version }) => (version === null ? tool : `${tool}@${version}`)),
      namespace: namespace(({ tool }) => namespaceOf(tool)),
      contract_digest: digest((changed) => changed.digest),
      principal: name(({ by }) => by),
      // What a person wrote lies with the registry.
      reason_digest: digest(({ reasonDigest }) => reasonDigest),
    },
  },
} as const satisfies AuditRows;
