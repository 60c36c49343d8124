import { type JobData, type JobName, runAll, type Services } from '@postrider/core';
import { sendAccountNotice } from '@postrider/core/account-notices';
import { workOff } from '@postrider/core/bulk';
import { cancelMailOf, recheckDomains } from '@postrider/core/domains';
import { runErasure } from '@postrider/core/erasures';
import { rollUpFailures } from '@postrider/core/failures';
import { matchFeedback } from '@postrider/core/feedback';
import { reencryptSecrets } from '@postrider/core/secrets';
import { rollUpStats } from '@postrider/core/stats';
import { maintainStorage } from '@postrider/core/storage';
import { giveUpDeliveries, oweRange } from '@postrider/core/webhooks';

/** Jobs that need no lanes. The others are fetched and settled by the pumps themselves. */
type HandledJob = Exclude<JobName, 'delivery.attempt' | 'webhook.deliver'>;

const handlers: { readonly [N in HandledJob]: (services: Services, data: JobData<N>) => Promise<void> } = {
  'account.notify': sendAccountNotice,
  'bulk.run': workOff,
  'domain.cancel_mail': cancelMailOf,
  'domain.recheck': (services) => recheckDomains(services),
  'erasure.run': runErasure,
  'feedback.match': (services) => matchFeedback(services),
  'numbers.roll_up': rollUpNumbers,
  'secrets.reencrypt': reencryptSecrets,
  'storage.maintain': (services) => maintainStorage(services),
  'webhook.close': (services, { webhook_id }) => giveUpDeliveries(services, webhook_id),
  'webhook.recover': (services, data) => oweRange(services, data),
};

/** Runs the roll-ups sequentially so that they use only one connection. */
async function rollUpNumbers(services: Services): Promise<void> {
  await runAll('the roll-ups', [() => rollUpStats(services), () => rollUpFailures(services)]);
}

type Handler = (services: Services, data: JobData<HandledJob>) => Promise<void>;

export function jobHandlers(services: Services): [HandledJob, (data: JobData<HandledJob>) => Promise<void>][] {
  // Each handler is listed under the job name whose payload it accepts.
  const entries = Object.entries(handlers) as [HandledJob, Handler][];
  return entries.map(([name, handler]) => [name, (data) => handler(services, data)]);
}
