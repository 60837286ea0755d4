import { taskFor } from './script.ts';

const SALES = [
  { customer: 'A. Meyer', currency: 'EUR', paid_minor: 12_990, status: 'delivered', items: ['Desk lamp, brass'] },
  { customer: 'L. Okafor', currency: 'EUR', paid_minor: 34_900, status: 'returned', items: ['Office chair'] },
] as const;

/** Two customers buy something, as in a real shop; what comes back is what the agent is asked about it. */
export async function placeOrders(serviceUrl: string): Promise<string> {
  const [damaged, returned] = await Promise.all(
    SALES.map(async (sale) => {
      const answer = await fetch(`${serviceUrl}/orders`, { method: 'POST', body: JSON.stringify(sale) });
      if (answer.status !== 201) throw new Error(`the order service answered ${answer.status} to a new order`);
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  return taskFor(damaged!, returned!);
}
