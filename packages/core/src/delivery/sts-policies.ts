import type { StsPolicyStore } from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import { keepStsPolicy, stsPolicyOf } from './sts-store.ts';

/** Stores the MTA-STS policies shared by all workers. */
export function stsPolicyStore({ sql, log }: Pick<Services, 'sql' | 'log'>): StsPolicyStore {
  return {
    read: (domain) => stsPolicyOf(sql, domain),
    async write(domain, policy) {
      try {
        await keepStsPolicy(sql, domain, policy);
      } catch (error) {
        log.error({ err: error, domain }, 'failed to store an MTA-STS policy; only this process uses it');
      }
    },
  };
}
