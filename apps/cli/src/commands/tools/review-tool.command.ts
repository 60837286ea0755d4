import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { Page } from '../../client/gateway-client.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { digest, filled } from '../../option-parsers.ts';
import { printable } from '../../output/printable.ts';
import { printDiff, type DiffView } from './diff-text.ts';
import { toolVersion } from './tool-name.ts';

interface Review {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly author: string;
  readonly change: string;
  readonly proposedAt: string;
  readonly diff: DiffView | null;
  readonly contract: object;
}

const COLUMNS = [
  { title: 'TOOL', of: (review: Review) => `${review.tool}@${review.version}` },
  { title: 'CHANGE', of: (review: Review) => review.change },
  { title: 'AUTHOR', of: (review: Review) => review.author },
  { title: 'PROPOSED', of: (review: Review) => review.proposedAt },
  { title: 'DIGEST', of: (review: Review) => review.digest },
];

const waiting = async (client: ReturnType<typeof openGateway>['client']): Promise<readonly Review[]> =>
  (await client.get<Page<Review>>('/v1/tool-reviews')).items;

export function addReviews(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'reviews',
    summary: 'list the versions that wait for a second publisher',
    examples: ['countersign tools reviews'],
  }).action(async (options: GatewayOptions) => {
    const { client, out } = openGateway(config, options);
    const items = await waiting(client);
    out.document({ items });
    out.table(COLUMNS, items, 'nothing waits for a review');
  });
}

interface DecideOptions extends GatewayOptions {
  readonly approve?: boolean;
  readonly reject?: boolean;
  readonly digest?: string;
  readonly reason?: string;
}

export function addReviewTool(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'review',
    summary: 'show a version that waits; with --approve or --reject and the digest that was shown, decide it',
    examples: [
      'countersign tools review desk.find@2.0.0                                 # shows it',
      'countersign tools review desk.find@2.0.0 --approve --digest sha256:…     # publishes it',
    ],
  })
    .argument('<tool>', 'ns.name@version', toolVersion)
    .option('--approve', 'publish it')
    .option('--reject', 'drop it')
    .option('--digest <digest>', 'of what you saw', digest)
    .option('--reason <text>', 'why; stands in the history of the tool', filled)
    .action(async (name: string, { approve, reject, digest: seen, reason, ...options }: DecideOptions) => {
      const { client, out } = openGateway(config, options);
      if (approve && reject) throw usageFailure('give --approve or --reject, not both');
      if (!approve && !reject) {
        const review = (await waiting(client)).find(({ tool, version }) => `${tool}@${version}` === name);
        if (!review) throw new CommandFailure(EXIT.failed, `NOT_FOUND: ${name} waits for no review`);
        out.document(review);
        out.fields([
          ['tool', name],
          ['author', review.author],
          ['digest', review.digest],
        ]);
        if (review.diff) printDiff(out, review.diff);
        out.line(printable(JSON.stringify(review.contract, null, 2)));
        return;
      }
      if (seen === undefined)
        throw usageFailure('--digest is missing: name what you saw by "countersign tools review"');
      const decision = approve ? 'approve' : 'reject';
      const body = { decision, digest: seen, ...(reason === undefined ? {} : { reason }) };
      const done = await client.post<{ state: string }>(`/v1/tool-reviews/${encodeURIComponent(name)}`, body);
      out.document(done);
      out.line(out.paint(approve ? 'good' : 'bad', `${name} ${done.state}`));
    });
}
