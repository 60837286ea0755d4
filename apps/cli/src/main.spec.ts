import { runCli } from '../testing/run-cli.ts';

const TOKEN = { COUNTERSIGN_TOKEN: 'dev.dev.alice.agent' };

describe('the command line', () => {
  it('tells commands with examples and exit codes', async () => {
    const commands = ['runs start', 'approvals approve', 'dev'];
    const answers = await Promise.all(commands.map((command) => runCli([...command.split(' '), '--help'])));
    for (const [i, { code, stdout }] of answers.entries()) {
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Examples:\\n  [^]*countersign ${commands[i]}[^]*Exit codes:`));
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('without a command tells what there is, and exits 2', async () => {
    const { code, stderr } = await runCli([]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Commands:')]);
  });

  it('without a credential says where to get one', async () => {
    const { code, stderr } = await runCli(['tools', 'list']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: --token is missing: give --token or set COUNTERSIGN_TOKEN .*\n$/),
    ]);
  });

  it('names the address that does not answer, and exits 3; with --json as JSON', async () => {
    const text = await runCli(['tools', 'list', '--url', 'http://127.0.0.1:2'], TOKEN);
    expect([text.code, text.stdout]).toEqual([3, '']);
    expect(text.stderr).toMatch(
      /^error: the gateway at http:\/\/127.0.0.1:2 does not answer \(ECONNREFUSED\): start it .*\n$/,
    );
    const json = await runCli(['tools', 'list', '--json', '--url', 'http://127.0.0.1:2'], TOKEN);
    expect([json.code, json.stdout]).toEqual([3, '']);
    expect(JSON.parse(json.stderr)).toEqual({
      error: { exit: 3, message: expect.stringContaining('does not answer') },
    });
  });

  it.each(['bash', 'zsh', 'fish'])('completes in %s', async (shell) => {
    const { code, stdout } = await runCli(['completion', shell]);
    expect(code).toBe(0);
    for (const word of [
      'approvals',
      'replay',
      shell === 'fish' ? '-l input-file' : '--input-file',
      'awaiting_approval',
    ])
      expect(stdout).toContain(word);
  });
});
