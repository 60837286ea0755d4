/** Amounts are whole numbers of the currency's smallest unit: 12990 EUR is 129.90 €. */
export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly currency: 'EUR' | 'CNY';
  readonly paid_minor: number;
  readonly status: 'delivered' | 'in_transit' | 'returned';
  readonly items: readonly string[];
}

export type OrderInput = Omit<Order, 'id'>;

/** What the example's shop had sold before it was opened. */
export const ORDERS: readonly Order[] = [
  {
    id: 'order-1042',
    customer: 'A. Meyer',
    currency: 'EUR',
    paid_minor: 12_990,
    status: 'delivered',
    items: ['Desk lamp, brass; the shade arrived dented'],
  },
  {
    id: 'order-1043',
    customer: 'L. Okafor',
    currency: 'EUR',
    paid_minor: 34_900,
    status: 'returned',
    items: ['Office chair; returned unused on day 9'],
  },
  {
    id: 'order-1044',
    customer: 'J. Silva',
    currency: 'EUR',
    paid_minor: 189_000,
    status: 'in_transit',
    items: ['Standing desk, oak, 180 cm'],
  },
  {
    id: 'order-2001',
    customer: '王芳',
    currency: 'CNY',
    paid_minor: 129_900,
    status: 'delivered',
    items: ['降噪耳机,左耳无声'],
  },
];
