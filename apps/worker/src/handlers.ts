import type { JobData, JobName, Services } from '@postrider/core';
import { maintainStorage } from '@postrider/core/storage';

/** Jobs that need no lanes. delivery.attempt is not here: the pump fetches and settles those itself. */
type HandledJob = Exclude<JobName, 'delivery.attempt'>;

const handlers: { readonly [N in HandledJob]: (services: Services, data: JobData<N>) => Promise<void> } = {
  'storage.maintain': (services) => maintainStorage(services),
};

export function jobHandlers(services: Services): [HandledJob, (data: JobData<HandledJob>) => Promise<void>][] {
  // Each handler stands under the name whose data it takes.
  return Object.entries(handlers).map(([name, handler]) => [name as HandledJob, (data) => handler(services, data)]);
}
