'use server';

import { ApiError, Postrider, safe } from '@postrider/sdk';
import { render } from '@react-email/render';
import { Receipt } from '../emails/receipt';
import { findOrder } from './orders';

export interface ReceiptState {
  status: 'idle' | 'sent' | 'failed';
  email?: string;
  message?: string;
}

export async function sendReceipt(_previous: ReceiptState, form: FormData): Promise<ReceiptState> {
  const email = String(form.get('email') ?? '').trim();
  // In your shop, check that the order belongs to the signed-in user: anyone can call a server action.
  const order = await findOrder(String(form.get('order_id')));
  if (!order) return { status: 'failed', email, message: 'There is no such order.' };

  // Created per call, because POSTRIDER_URL and POSTRIDER_API_KEY are missing during a build.
  const postrider = new Postrider();
  const receipt = <Receipt order={order} />;
  const { error } = await safe(
    postrider.email.send(
      {
        from: 'Shop <hello@sandbox.test>',
        to: email,
        subject: `Your receipt for order ${order.id}`,
        html: await render(receipt),
        text: await render(receipt, { plainText: true }),
      },
      // A second click has the same key, so it gets the first response again and sends nothing.
      { idempotency_key: `receipt/${order.id}/${encodeURIComponent(email)}` },
    ),
  );
  if (!error) return { status: 'sent', email };

  if (error instanceof ApiError && error.details.some(({ param }) => param === 'to'))
    return { status: 'failed', email, message: 'This is not a valid email address.' };
  console.error('failed to send receipt', error);
  return { status: 'failed', email, message: 'We could not send your receipt. Try again in a minute.' };
}
