import { Agent, request } from 'undici';

// What W1 stands beside: nothing but posts, as many at a time as the worker has. Usage: port, seconds, at once, bytes.
const [port = '', seconds = '', at_once = '', bytes = ''] = process.argv.slice(2);

const dispatcher = new Agent({ pipelining: 1 });
const body = Buffer.alloc(Number(bytes), 'x');
const end = performance.now() + Number(seconds) * 1000;
const loop = async (index: number) => {
  while (performance.now() < end) {
    const answer = await request(`http://127.0.0.1:${port}/${index}`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-id': 'evt_0' },
      body,
    });
    await answer.body.dump();
  }
};
await Promise.all(Array.from({ length: Number(at_once) }, (_, index) => loop(index)));
await dispatcher.close();
