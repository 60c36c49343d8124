import { findOrder, formatPrice } from './orders';
import { ReceiptForm } from './receipt-form';

export default async function Page() {
  const order = await findOrder('1815');
  if (!order) return <p>There is no such order.</p>;
  return (
    <main>
      <h1>Order {order.id}</h1>
      <ul>
        {order.items.map(({ name, cents }) => (
          <li key={name}>
            {name}: {formatPrice(cents)}
          </li>
        ))}
      </ul>
      <ReceiptForm order_id={order.id} />
    </main>
  );
}
