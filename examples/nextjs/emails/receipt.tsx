import { Body, Container, Heading, Html, Preview, Text } from '@react-email/components';
import { formatPrice, type Order } from '../app/orders';

export function Receipt({ order }: { order: Order }) {
  const total = order.items.reduce((sum, { cents }) => sum + cents, 0);
  return (
    <Html lang="en">
      <Preview>Thank you for your order</Preview>
      <Body style={{ fontFamily: 'sans-serif' }}>
        <Container>
          <Heading>Order {order.id}</Heading>
          <Text>Hello {order.customer},</Text>
          {order.items.map(({ name, cents }) => (
            <Text key={name}>
              {name}: {formatPrice(cents)}
            </Text>
          ))}
          <Text>
            <strong>Total: {formatPrice(total)}</strong>
          </Text>
        </Container>
      </Body>
    </Html>
  );
}
