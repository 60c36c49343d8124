import type { StsPolicyStore } from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import { keepStsPolicy, stsPolicyOf } from './sts-store.ts';

/** MTA-STS policies shared by all workers. */
export function stsPolicyStore({ sql, log }: Pick<Services, 'sql' | 'log'>): StsPolicyStore {
  return {
    read: (domain) => stsPolicyOf(sql, domain),
    async write(domain, policy) {
      try {
        await keepStsPolicy(sql, domain, policy);
      } catch (error) {
        log.error({ err: error, domain }, 'an MTA-STS policy could not be stored and is used by this process only');
      }
    },
  };
}
