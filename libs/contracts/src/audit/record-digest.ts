import { hash } from 'node:crypto';

/** Digest of an audit record over the bytes that were published: purpose line, then the text. */
export const hashRecord = (text: string): Buffer => hash('sha256', `audit/v1\n${text}`, 'buffer');

/** The same as hex, without a `sha256:` before it. */
export const digestOfRecord = (text: string): string => hash('sha256', `audit/v1\n${text}`, 'hex');
