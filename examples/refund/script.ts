import { call, say, type Script, type ScriptRequest } from '#providers';

/** The task of the demo, about two orders of its own, so that the next start finds money to refund, too. */
export const taskFor = (damaged: string, returned: string): string =>
  `Refund 30 EUR of ${damaged} (the lamp arrived dented) and all of ${returned} (returned unused).`;

const READ = 'orders__read_order';
const DRAFT = 'orders__draft_refund';
const EXECUTE = 'orders__execute_refund';
const ORDER_IDS = /\border-\d+\b/g;
/** Limits of the contract in EUR, lowest first: minor units → argument. */
const LIMITS = [
  [5_000, 'EUR 50.00'],
  [50_000, 'EUR 500.00'],
  [500_000, 'EUR 5000.00'],
] as const;

const texts = (request: ScriptRequest, tool: string): string[] =>
  request.outputs.filter((output) => output.name === tool).map((output) => output.text);
const textField = (text: string, name: string): string | undefined =>
  new RegExp(`"${name}":\\s*"([^"]+)"`).exec(text)?.[1];
const numberField = (text: string, name: string): number =>
  Number(new RegExp(`"${name}":\\s*(\\d+)`).exec(text)?.[1] ?? 0);
const limitFor = (minor: number): string => LIMITS.find(([limit]) => minor <= limit)?.[1] ?? LIMITS.at(-1)![1];

/** What a model does with this task: reads the orders, drafts both refunds, executes each under the lowest limit, answers. */
export const script: Script = (request) => {
  const asked = request.userTexts.join(' ');
  if (request.turnNo === 1)
    return [...new Set(asked.match(ORDER_IDS) ?? [])].map((order_id) => call(READ, { order_id }));
  const executed = texts(request, EXECUTE);
  if (executed.length > 0) return [say(summary(executed))];
  const drafts = texts(request, DRAFT);
  if (drafts.length > 0) {
    const calls = drafts.flatMap((text) => {
      const draft_id = textField(text, 'draft_id');
      return draft_id === undefined
        ? []
        : [call(EXECUTE, { draft_id, up_to: limitFor(numberField(text, 'amount_minor')) })];
    });
    return calls.length > 0 ? calls : [say('No refund could be drafted, so nothing was paid.')];
  }
  const orders = texts(request, READ).filter((text) => textField(text, 'id') !== undefined);
  if (orders.length === 0) return [say('No order could be read, so nothing was refunded.')];
  return orders.map((text) => {
    const returned = textField(text, 'status') === 'returned';
    return call(DRAFT, {
      order_id: textField(text, 'id'),
      amount_minor: returned ? numberField(text, 'refundable_minor') : 3_000,
      currency: textField(text, 'currency'),
      reason: returned ? 'Returned unused; full refund.' : 'Arrived damaged; part of the price.',
    });
  });
};

function summary(executed: readonly string[]): string {
  const paid = executed.flatMap((text) => textField(text, 'refund_id') ?? []);
  const open = executed.length - paid.length;
  const first = paid.length > 0 ? `Paid: ${paid.join(', ')}.` : 'Nothing was paid.';
  return open > 0
    ? `${first} ${open} refund(s) were not paid: the call did not succeed; a person must look at them.`
    : first;
}
