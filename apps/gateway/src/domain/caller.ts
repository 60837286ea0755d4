import type { Principal } from '#contracts';

/** Who asks: from the credential, never from a request's body. */
export interface Caller {
  readonly tenant: string;
  readonly principal: Principal;
  /** What the credential is narrowed to; absent = all that its roles and policy allow. */
  readonly scope?: Scope | undefined;
}

/** read: look; act: start, propose, finish, cancel, resume; approve: decide approvals. */
export const VERBS = ['read', 'act', 'approve'] as const;
export type Verb = (typeof VERBS)[number];

export interface Scope {
  readonly verbs?: readonly Verb[] | undefined;
  /** `ns.name`, `ns.*` or `*`. */
  readonly tools?: readonly string[] | undefined;
}

/** Roles that the gateway knows; contracts and policies may name others. */
export const ROLES = {
  /** Starts runs and calls, and sees its own. */
  agent: 'agent',
  /** Decides approvals. */
  approver: 'approver',
  /** Sees all of the tenant, cancels and resumes its runs. */
  operator: 'operator',
  /** Sees all of the tenant. */
  auditor: 'auditor',
  /** Publishes tools. */
  toolPublisher: 'tool-publisher',
  /** May all that an operator and an auditor may. */
  tenantAdmin: 'tenant-admin',
} as const;

/** Who may look at runs and calls. */
export const READERS = [ROLES.agent, ROLES.operator, ROLES.auditor, ROLES.tenantAdmin] as const;
export const APPROVAL_READERS = [ROLES.approver, ROLES.operator, ROLES.auditor, ROLES.tenantAdmin] as const;
export const AUDIT_READERS = [ROLES.operator, ROLES.auditor, ROLES.tenantAdmin] as const;
/** Who may end a run or go on with it: the one who started it, and those who run the tenant. */
export const RUN_KEEPERS = [ROLES.agent, ROLES.operator, ROLES.tenantAdmin] as const;

/** Who may say what became of a call whose outcome is unknown. */
export const RESOLVERS = [ROLES.operator, ROLES.tenantAdmin] as const;
/** Who may publish tools, review what others propose, and take tools out of use. */
export const PUBLISHERS = [ROLES.toolPublisher, ROLES.tenantAdmin] as const;
/** Who may stop the use of a tool at once. */
export const TOOL_KEEPERS = [ROLES.toolPublisher, ROLES.operator, ROLES.tenantAdmin] as const;

/** Who may see what became of a tool, and why. */
export const TOOL_HISTORIANS = [ROLES.toolPublisher, ...AUDIT_READERS] as const;

export const hasRole = (caller: Caller, roles: readonly string[]): boolean =>
  caller.principal.roles.some((role) => roles.includes(role));

/** Sees all of the tenant's runs, not only the own ones. */
export const seesTenant = (caller: Caller): boolean => hasRole(caller, AUDIT_READERS);

const DEV_CREDENTIAL = /^dev\.([a-z][a-z0-9-]{0,62})\.([A-Za-z0-9_-]{1,64})\.([a-z][a-z0-9_+-]{0,200})$/;

/** `dev.<tenant>.<name>.<role>[+<role>…]`; null when it is not of this form. */
export function parseDevCredential(credential: string): Caller | null {
  const [, tenant, name, roles] = DEV_CREDENTIAL.exec(credential) ?? [];
  if (tenant === undefined || name === undefined || roles === undefined) return null;
  const list = [...new Set(roles.split('+'))];
  if (list.some((role) => role === '' || role.length > 64)) return null;
  return { tenant, principal: { id: `user:${name}`, kind: 'user', roles: list } };
}

/** 127.0.0.0/8, ::1 and localhost. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/** The host name of a Host header, without its port. */
export const hostName = (header: string): string => header.replace(/:\d+$/, '').toLowerCase();
