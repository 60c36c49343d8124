import { Agent, request } from 'undici';

// The baseline of W1: posts only, with the worker's concurrency and headers of equal length. Usage: port, seconds,
// concurrency, bytes.
const [port = '', seconds = '', at_once = '', bytes = ''] = process.argv.slice(2);

const dispatcher = new Agent({ pipelining: 1 });
const body = Buffer.alloc(Number(bytes), 'x');
const headers = {
  'content-type': 'application/json',
  'user-agent': 'Postrider-Webhooks/1',
  'webhook-id': `evt_${'0'.repeat(26)}`,
  'webhook-timestamp': '1800000000',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
};
const end = performance.now() + Number(seconds) * 1000;
const loop = async (index: number) => {
  while (performance.now() < end) {
    const response = await request(`http://127.0.0.1:${port}/${index}`, {
      dispatcher,
      method: 'POST',
      headers,
      body,
    });
    await response.body.dump();
  }
};
await Promise.all(Array.from({ length: Number(at_once) }, (_, index) => loop(index)));
await dispatcher.close();
