import {
  decodeMessage,
  encodeMessage,
  MAX_MESSAGE_BYTES,
  message,
  type Message,
  type MessageContext,
  type TurnCompleted,
  type TurnFailed,
} from '#contracts';
import { parseJson } from '#kernel';

const LIMITS = { maxBytes: MAX_MESSAGE_BYTES, maxDepth: 64 };

export interface TurnResponse {
  readonly state: 'completed' | 'failed';
  readonly message: Message<'TurnCompleted' | 'TurnFailed'>;
  /** Exactly what is stored, published, and published again for a repeat. */
  readonly bytes: Buffer;
}

export function failedTurn(context: MessageContext, data: TurnFailed): TurnResponse {
  const failed = message('TurnFailed', context, data);
  return { state: 'failed', message: failed, bytes: encodeMessage(failed) };
}

/** A model may write what no consumer could read back; that must be found here and not in their dead letters. */
export function completedTurn(context: MessageContext, data: TurnCompleted): TurnResponse {
  const completed = message('TurnCompleted', context, data);
  const bytes = encodeMessage(completed);
  const refused = (why: string): TurnResponse =>
    failedTurn(context, { turn: data.turn, code: 'MODEL_PROTOCOL', message: why });
  if (bytes.length > MAX_MESSAGE_BYTES) {
    return refused(
      `The answer of the model has ${bytes.length} bytes as a message; ${MAX_MESSAGE_BYTES} are allowed; nothing of it was executed`,
    );
  }
  try {
    parseJson(bytes, LIMITS); // stricter than decodeMessage: no column holds NUL or half a surrogate pair
    decodeMessage(bytes);
  } catch {
    return refused('The answer of the model cannot be carried as a message; nothing of it was executed');
  }
  return { state: 'completed', message: completed, bytes };
}
