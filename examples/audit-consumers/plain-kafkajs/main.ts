import { followAudit } from '../follow-audit.ts';
import { PositionsFile } from '../positions-file.ts';
import { consumerArguments, endOnSignal } from '../run-consumer.ts';

/** Prints a line for each record, and faults to stderr. */
const { state, ...options } = consumerArguments('plain-kafkajs');
const file = await PositionsFile.open(state);
endOnSignal(
  await followAudit({
    ...options,
    positions: file.positions,
    async take({ records, faults }) {
      for (const { ledger, sequence, text } of records) {
        const { id, type, subject } = JSON.parse(text) as Record<'id' | 'type' | 'subject', string>;
        console.log(`${ledger}#${sequence} ${id} ${type} ${subject}`);
      }
      for (const fault of faults)
        console.error(`FAULT ${fault.kind} ${fault.ledger}#${fault.sequence}: ${fault.detail}`);
      await file.advance(records);
    },
  }),
);
