import type { Environment } from '#runtime';

/** What the demo takes from the caller's shell; read once, passed on. */
export interface DemoConfig {
  /** The shell has a key of a real provider. */
  readonly realModel: boolean;
  /** Output without colours (https://no-color.org). */
  readonly noColour: boolean;
  /** PostgreSQL of the caller's own, instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** What services get of our own environment; other settings of the shell must not leak into the demo. */
  readonly inherited: Environment;
}

const INHERITED = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'OPENAI_API_KEY',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
];

export function demoConfig(env: Environment = process.env): DemoConfig {
  return {
    realModel: Boolean(env.OPENAI_API_KEY),
    noColour: Boolean(env.NO_COLOR),
    databaseUrl: env.COUNTERSIGN_DATABASE_URL || undefined,
    inherited: Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  };
}
