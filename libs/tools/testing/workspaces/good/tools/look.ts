import { defineTool } from '#tools';

type Args = { readonly what: string };

export const look = defineTool(
  {
    namespace: 'good',
    name: 'look',
    version: '1.0.0',
    layer: 'read',
    title: 'Look',
    description: 'Looks at something.',
    whenToUse: 'To see it.',
    whenNotToUse: 'To change it.',
    sideEffects: 'none',
    input: {
      type: 'object',
      properties: { what: { type: 'string' } },
      required: ['what'],
      additionalProperties: false,
    },
    output: { type: 'object' },
    execution: { kind: 'local' },
  },
  async (args) => ({ seen: (args as Args).what }),
);

export default look;
