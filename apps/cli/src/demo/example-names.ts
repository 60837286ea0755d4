/** The examples of the demo, in the order in which it runs them. */
export const EXAMPLE_NAMES = ['incident-triage', 'research', 'refund'] as const;
export type ExampleName = (typeof EXAMPLE_NAMES)[number];
