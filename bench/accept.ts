import { startBenchServer } from './database.ts';
import { httpRequest, runLoad } from './load.ts';
import { prepareProduct, startProduct } from './product.ts';
import { createRawLimit } from './raw-limit.ts';
import { receipt } from './sample.ts';

const seconds = Number(process.env.SECONDS ?? 4);
const server = await startBenchServer();
const limit = await createRawLimit(await server.database('limit'));
const product = await prepareProduct(await server.database('product'), 100);
for (let round = 0; round < Number(process.env.ROUNDS ?? 2); round++) {
  const l1 = await limit.measure(seconds);
  await product.reset();
  const one = await startProduct(product.url, { ROLES: 'rest' });
  const requests = product.secrets.map((secret) => httpRequest('POST', '/v1/email/send', secret, receipt));
  await runLoad({ port: one.port, connections: 64, seconds: 1, requests });
  const a1 = await runLoad({ port: one.port, connections: 64, seconds, requests });
  const hot = await runLoad({ port: one.port, connections: 64, seconds, requests: requests.slice(0, 1) });
  const lone = await runLoad({ port: one.port, connections: 1, seconds: 2, requests });
  await one.stop();
  console.log({ l1, a1, ratio: a1.rate / l1.rate, hot, lone });
}
await product.stop();
await limit.stop();
await server.stop();
