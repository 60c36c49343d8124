export interface Order {
  id: string;
  customer: string;
  items: { name: string; cents: number }[];
}

const orders: readonly Order[] = [
  {
    id: '1815',
    customer: 'Ada',
    items: [
      { name: '3 punched cards', cents: 750 },
      { name: '1 <envelope>', cents: 120 },
    ],
  },
];

/** Stands in for your database. */
export async function findOrder(id: string): Promise<Order | undefined> {
  return orders.find((order) => order.id === id);
}

export function formatPrice(cents: number): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(cents / 100);
}
