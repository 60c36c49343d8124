import type { StsPolicyStore } from '@postrider/mail';
import type { Services } from '../context.ts';
import { keepStsPolicy, stsPolicyOf } from './sts-store.ts';

/** The MTA-STS policies that all workers have fetched. */
export function stsPolicyStore({ sql, log }: Pick<Services, 'sql' | 'log'>): StsPolicyStore {
  return {
    read: (domain) => stsPolicyOf(sql, domain),
    async write(domain, policy) {
      try {
        await keepStsPolicy(sql, domain, policy);
      } catch (error) {
        log.error({ err: error, domain }, 'an MTA-STS policy could not be stored and holds for this process alone');
      }
    },
  };
}
