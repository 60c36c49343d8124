'use client';

import { useActionState } from 'react';
import { sendReceipt } from './actions';

export function ReceiptForm({ order_id }: { order_id: string }) {
  const [state, action, is_pending] = useActionState(sendReceipt, { status: 'idle' });
  return (
    <form action={action}>
      <input type="hidden" name="order_id" value={order_id} />
      <label>
        Email <input type="email" name="email" autoComplete="email" required defaultValue={state.email} />
      </label>{' '}
      <button type="submit" disabled={is_pending}>
        Send receipt
      </button>
      {state.status === 'sent' && <p role="status">Receipt sent to {state.email}.</p>}
      {state.status === 'failed' && <p role="alert">{state.message}</p>}
    </form>
  );
}
