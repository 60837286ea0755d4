import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { EXIT } from '../../exit-codes.ts';
import { addGatewayCommand, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import { Output } from '../../output/output.ts';
import { printableLine } from '../../output/printable.ts';
import { checkBus, checkLocks } from './check-brokers.ts';
import { checkDatabases } from './check-databases.ts';
import { checkGateway } from './check-gateway.ts';
import { checkSettings } from './check-settings.ts';
import { checkWorkspaces } from './check-workspaces.ts';
import type { Finding } from './finding.ts';

interface DoctorOptions extends GatewayOptions {
  readonly workspace?: string;
}

const MARKS = { ok: ['good', '✓'], wrong: ['bad', '✗'], skipped: ['dim', '·'] } as const;

export function addDoctor(program: Command, config: CliConfig): void {
  addGatewayCommand(program, {
    usage: 'doctor',
    summary:
      "look at settings, database, brokers, Redis, clocks, gateway and workspaces by this shell's environment, and say how to mend what is wrong; exit 1 if something is",
    examples: ['countersign doctor', 'countersign doctor --workspace my-workspace --json'],
  })
    .option('--workspace <folder>', 'a workspace to check; else those of COUNTERSIGN_WORKSPACES', filled)
    .action(async ({ url, token, json, workspace }: DoctorOptions) => {
      const out = new Output({ json, noColour: config.noColour });
      const findings: Finding[] = [];
      const checks: readonly [name: string, look: () => Promise<Finding[]>][] = [
        ['settings', () => checkSettings(config.env)],
        ['database', () => checkDatabases(config.env)],
        ['brokers', () => checkBus(config.env)],
        ['Redis', () => checkLocks(config.env)],
        ['gateway', () => checkGateway(url, token)],
        ['workspaces', () => checkWorkspaces(config.env, workspace)],
      ];
      for (const [name, look] of checks) {
        out.progress(`looking at ${name} …`);
        const found = await look();
        for (const finding of found) print(out, finding);
        findings.push(...found);
      }
      const ok = findings.every(({ state }) => state !== 'wrong');
      out.document({ ok, findings });
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}

function print(out: Output, { check, state, found, remedy }: Finding): void {
  const [tone, mark] = MARKS[state];
  out.line(`${out.paint(tone, mark)} ${check}: ${printableLine(found)}`);
  if (remedy) out.line(`    → ${printableLine(remedy)}`);
}
