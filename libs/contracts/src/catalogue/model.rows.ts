import * as model from '../messages/model.schema.ts';
import { row } from './catalogue-row.ts';

/** Turns of the model. */
export const MODEL_ROWS = {
  RequestTurn: row(model.requestTurnSchema, {
    topic: 'model.requests',
    key: 'runId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['model-adapter'],
    meaning: 'Ask the model for its next turn.',
  }),
  TurnCompleted: row(model.turnCompletedSchema, {
    topic: 'model.responses',
    key: 'runId',
    kind: 'fact',
    producer: 'model-adapter',
    consumers: ['orchestrator'],
    meaning: 'The model answered: proposals, text or both.',
  }),
  TurnFailed: row(model.turnFailedSchema, {
    topic: 'model.responses',
    key: 'runId',
    kind: 'fact',
    producer: 'model-adapter',
    consumers: ['orchestrator'],
    meaning: 'The model gave no usable answer.',
  }),
} as const;
