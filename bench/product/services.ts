import { catalogue, createServices, readConfig, type Services, silentLog, systemClock } from '@postrider/core';
import { connect } from '@postrider/db';
import { createQueue } from '@postrider/queue';
import { type ProductDatabase, SECRET_KEY } from './product.ts';

/** Creates the product's services in this process, for measurements without a server. */
export async function openServices(
  { url }: Pick<ProductDatabase, 'url'>,
  { name, connections }: { readonly name: string; readonly connections: number },
  on_error: (error: unknown) => void,
): Promise<{ readonly services: Services; stop(): Promise<void> }> {
  const sql = connect(url, { max: connections, application_name: name });
  const jobs = createQueue({
    sql,
    url,
    catalogue,
    application_name: `${name}-queue`,
    max_connections: 4,
    supervise: false,
    on_error,
  });
  await jobs.start();
  const services = createServices({
    sql,
    jobs,
    clock: systemClock,
    log: silentLog,
    config: readConfig({}),
    secret_key: SECRET_KEY,
    public_url: 'http://localhost:3000',
  });
  return {
    services,
    async stop() {
      await services.key_uses.stop();
      await jobs.stop();
      await sql.end({ timeout: 2 });
    },
  };
}
