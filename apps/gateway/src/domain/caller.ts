import type { Principal } from '#contracts';

/** Who asks: from the credential, never from a request's body. */
export interface Caller {
  readonly tenant: string;
  readonly principal: Principal;
}

/** Roles that the gateway knows; contracts and policies may name others. */
export const ROLES = { agent: 'agent', approver: 'approver', operator: 'operator', auditor: 'auditor' } as const;

export const hasRole = (caller: Caller, roles: readonly string[]): boolean =>
  caller.principal.roles.some((role) => roles.includes(role));

/** Sees all of the tenant's runs, not only the own ones. */
export const seesTenant = (caller: Caller): boolean => hasRole(caller, [ROLES.operator, ROLES.auditor]);

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
