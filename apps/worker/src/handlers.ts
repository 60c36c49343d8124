import type { JobData, JobName, Services } from '@postrider/core';
import { workOff } from '@postrider/core/bulk';
import { cancelMailOf, recheckDomains } from '@postrider/core/domains';
import { maintainStorage } from '@postrider/core/storage';
import { giveUpDeliveries, oweRange } from '@postrider/core/webhooks';

/** Jobs that need no lanes. The others are fetched and settled by the pumps themselves. */
type HandledJob = Exclude<JobName, 'delivery.attempt' | 'webhook.deliver'>;

const handlers: { readonly [N in HandledJob]: (services: Services, data: JobData<N>) => Promise<void> } = {
  'bulk.run': workOff,
  'domain.cancel_mail': cancelMailOf,
  'domain.recheck': (services) => recheckDomains(services),
  'storage.maintain': (services) => maintainStorage(services),
  'webhook.close': (services, { webhook_id }) => giveUpDeliveries(services, webhook_id),
  'webhook.recover': (services, data) => oweRange(services, data),
};

type Handler = (services: Services, data: JobData<HandledJob>) => Promise<void>;

export function jobHandlers(services: Services): [HandledJob, (data: JobData<HandledJob>) => Promise<void>][] {
  // Each handler stands under the name whose data it takes, and gets what was fetched under that name.
  const entries = Object.entries(handlers) as [HandledJob, Handler][];
  return entries.map(([name, handler]) => [name, (data) => handler(services, data)]);
}
