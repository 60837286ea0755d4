import { z } from 'zod';

/**
 * What a cancellation came to for one call (G9), as the pool that holds the call knows it.
 *
 *   state               evidence                    what it rests on
 *   nothing_happened    not_begun                   the journal holds no intent, and lets none come any more
 *   nothing_happened    not_sent                    there is an intent, but no byte of a request left
 *   acknowledged        read_stopped                a read was cut short: it changes nothing
 *   acknowledged        tool_vouched                the tool ended and its answer proves that nothing was changed
 *   completed_anyway    tool_answered               the tool answered after the cancellation had reached it
 *   completed_anyway    settled_before              the call had succeeded before the cancellation came
 *   nothing_happened    settled_before              the call had failed without effect before it came
 *   unknown             no_answer                   something was sent, and nobody said how it ended
 *   unknown             settled_before              the outcome was unknown before it came
 */
export const cancellationSchema = z.object({
  state: z.enum(['nothing_happened', 'acknowledged', 'completed_anyway', 'unknown']),
  evidence: z.enum([
    'not_begun',
    'not_sent',
    'read_stopped',
    'tool_vouched',
    'tool_answered',
    'settled_before',
    'no_answer',
  ]),
  /** RFC 3339. */
  at: z.string(),
});
export type Cancellation = z.infer<typeof cancellationSchema>;

/** Asks the pool to let the call not begin; what has begun is stopped, or only let come to its end. */
export const cancelGrantedSchema = z.object({
  /** Who cancelled; null = the run's time was over. */
  principal: z.string().nullable(),
  /** What becomes of a call whose tool is running. */
  begun: z.enum(['stop', 'finish']),
});
export type CancelGranted = z.infer<typeof cancelGrantedSchema>;

/** A cancellation that came after the settlement; one that came before it stands in the settlement itself. */
export const callCancellationSchema = z.object({ ...cancellationSchema.shape });
export type CallCancellation = z.infer<typeof callCancellationSchema>;
