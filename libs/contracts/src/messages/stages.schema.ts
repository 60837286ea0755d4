import { z } from 'zod';

/** Whether the model may call a tool of its stage, has to, or must not. */
export const toolChoiceSchema = z.enum(['auto', 'required', 'none']);
export type ToolChoice = z.infer<typeof toolChoiceSchema>;

const MAX_STAGES = 16;

/**
 * Stages of a run that a model drives, in order. A condition over the calls that settled in a stage leads to the next one;
 * nothing that a model or a tool says does.
 * @param tool how tools are named there
 */
export const stagesSchema = <T extends z.ZodType<string>>(tool: T) => {
  const tools = z.array(tool).min(1).max(1_000);
  return z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'use lower-case words joined by "-"')
          .max(64),
        /** What the model is shown in the stage: of the run's toolset. */
        toolset: z.array(tool).max(1_000),
        /** Absent: auto. */
        toolChoice: toolChoiceSchema.optional(),
        /** Calls out at once, if the run's own limit is not lower. */
        maxParallel: z.int().min(1).max(64).optional(),
        /** When the next stage begins: all of these tools have succeeded in this one, or any of them, or so many calls have. */
        advanceWhen: z
          .union([
            z.strictObject({ all: tools }),
            z.strictObject({ any: tools }),
            z.strictObject({ calls: z.int().min(1).max(1_000) }),
          ])
          .optional(),
      }),
    )
    .min(1)
    .max(MAX_STAGES);
};

export type Stages = z.infer<ReturnType<typeof stagesSchema<z.ZodString>>>;
export type Stage = Stages[number];
type Fault = { readonly path: readonly (string | number)[]; readonly message: string };

/** What makes stages impossible to go through; tools are compared as they are written. */
export function stageFaults(stages: Stages, toolset: readonly string[]): Fault[] {
  const names = stages.map(({ name }) => name);
  return stages.flatMap((stage, index) => [
    ...(names.indexOf(stage.name) < index
      ? [{ path: [index, 'name'], message: `there is a stage ${stage.name} before: rename one` }]
      : []),
    ...toolFaults(stage, index, toolset),
    ...orderFaults(stage, index, index === stages.length - 1),
  ]);
}

function toolFaults({ toolset: own, toolChoice }: Stage, index: number, toolset: readonly string[]): Fault[] {
  const path = [index, 'toolset'];
  if (own.length === 0 && toolChoice !== 'none')
    return [{ path, message: 'offers no tool: name some of the toolset, or set toolChoice to none' }];
  return own.flatMap((tool, at) => {
    if (!toolset.includes(tool))
      return [
        {
          path: [...path, at],
          message: `${tool} is not in the toolset of the agent: add it there, as it is written here`,
        },
      ];
    return own.indexOf(tool) < at ? [{ path: [...path, at], message: `${tool} stands twice: remove one` }] : [];
  });
}

function orderFaults({ toolset, toolChoice, advanceWhen }: Stage, index: number, last: boolean): Fault[] {
  const choice = { path: [index, 'toolChoice'] };
  const condition = { path: [index, 'advanceWhen'] };
  if (last) {
    return [
      ...(advanceWhen ? [{ ...condition, message: 'no stage comes after the last one: remove the condition' }] : []),
      ...(toolChoice === 'required'
        ? [{ ...choice, message: 'the model could never answer: the last stage needs auto or none' }]
        : []),
    ];
  }
  if (toolChoice === 'none')
    return [
      {
        ...choice,
        message: 'without calls the next stage is never reached: use auto or required, or make it the last one',
      },
    ];
  if (!advanceWhen)
    return [
      {
        ...condition,
        message: 'is missing: say by all, any or calls when the next stage begins, or make it the last one',
      },
    ];
  return toolsOf(advanceWhen)
    .filter((tool) => !toolset.includes(tool))
    .map((tool) => ({ ...condition, message: `${tool} is not offered in this stage, so it never succeeds there` }));
}

const toolsOf = (condition: NonNullable<Stage['advanceWhen']>): readonly string[] =>
  'all' in condition ? condition.all : 'any' in condition ? condition.any : [];
