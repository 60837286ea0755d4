import type { Clock } from '#kernel';
import type { Database, Outbox } from '#persistence';
import type { Log } from '#runtime';
import type { DecisionMaker } from './decision-maker.ts';

/** What every reducer of policy works with. */
export interface PolicyParts {
  readonly maker: DecisionMaker;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
}
