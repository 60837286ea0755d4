import { cliConfig } from './cli.config.ts';
import { runProgram } from './run-program.ts';

/** Nobody listens there: a command that went on in spite of its arguments would fail otherwise. */
const NOWHERE = 'http://127.0.0.1:9';
/** Commands that do not talk to the gateway. */
const LOCAL = new Set<string>(['dlq', 'dev', 'journal']);

describe('a command line that is wrong', () => {
  it.each([
    [['runs', 'lst'], "error: unknown command 'lst' (Did you mean list?)\n"],
    [
      ['runs', 'list', '--limit', '0'],
      "error: option '--limit <n>' argument '0' is invalid. Give a whole number from 1 to 10000.\n",
    ],
    [
      ['runs', 'show', 'nope'],
      "error: command-argument value 'nope' is invalid for argument 'run'. Give the id of a run, such as run_01kb….\n",
    ],
    [
      ['runs', 'list', '--label', 'x'],
      "error: option '--label <key=value>' argument 'x' is invalid. Give it as key=value.\n",
    ],
    [
      ['runs', 'list', '--status', 'odd'],
      /^error: option '--status <status>' argument 'odd' is invalid\. Allowed choices are running, .*\.\n$/,
    ],
    [['runs', 'start', 'a'], 'error: the input is needed once: give it after the agent, or by --input-file\n'],
    [
      ['runs', 'start', 'a', '--input-file', '/none'],
      'error: --input-file: /none cannot be read (ENOENT); name a readable file, or - for stdin\n',
    ],
    [
      ['approvals', 'approve', `appr_${'0'.repeat(26)}`],
      /^error: there is no terminal to ask: give --yes and --digest .*\n$/,
    ],
    [['approvals', 'approve', `appr_${'0'.repeat(26)}`, '--yes'], /^error: --yes needs --digest: .*\n$/],
    [['audit', 'verify', '--file', '/none'], 'error: --file: /none cannot be read (ENOENT)\n'],
    [['audit', 'verify', '--topic'], /^error: --topic needs --brokers .*\n$/],
    [['dlq', 'list'], /^error: where are the dead letters\? Give --brokers .*\n$/],
    [
      ['dlq', 'list', '--brokers', 'host'],
      `error: option '--brokers <host:port,…>' argument 'host' is invalid. "host" is not host:port.\n`,
    ],
    [['apply', '-f', '/none'], 'error: --filename: there is no /none\n'],
    [['dev', '/none'], 'error: /none is not a folder: name a workspace with tools/, policies/ and agents/\n'],
    [
      ['tools', 'show', 'X'],
      "error: command-argument value 'X' is invalid for argument 'tool'. Give ns.name, or ns.name@1.2.3.\n",
    ],
    [
      ['tools', 'list', '--url', 'ftp://x'],
      "error: option '--url <url>' argument 'ftp://x' is invalid. expected http://… or https://…\n",
    ],
  ] as const)('%j: exit 2 and one line that names the place and the remedy', async (args, expected) => {
    let stderr = '';
    const given = [...args, ...(args.includes('--url' as never) ? [] : ['--url', NOWHERE])];
    const exit = await runProgram(LOCAL.has(args[0]) ? args : given, cliConfig({}), (text) => (stderr += text));
    expect(stderr).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
    expect(exit).toBe(2);
  });
});
