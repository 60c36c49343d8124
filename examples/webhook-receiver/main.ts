import { createReceiver } from './receiver.ts';
import { Store } from './store.ts';

const { PORT = '4000', WEBHOOK_SECRET } = process.env;
if (!WEBHOOK_SECRET) throw new Error('Set WEBHOOK_SECRET to the secret shown when you created the webhook.');

createReceiver(new Store('customers.db'), WEBHOOK_SECRET).listen(Number(PORT), () => {
  console.log(`Receiving webhooks at http://localhost:${PORT}/`);
});
