import type { Sql } from '@postrider/db';
import type { Log } from '../operation/context.ts';
import type { KeyUses } from '../operation/ports.ts';
import { touchKeys } from './store.ts';

const FLUSH_MS = 5000;

export function createKeyUses(sql: Sql, log: Log): KeyUses {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  const flush = async () => {
    timer = null;
    const ids = [...used];
    used.clear();
    try {
      if (ids.length > 0) await touchKeys(sql, ids);
    } catch (error) {
      log.warn({ err: error }, 'failed to update last_used_at of API keys');
    }
  };
  return {
    note(key_id) {
      used.add(key_id);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    async stop() {
      if (timer) clearTimeout(timer);
      await flush();
    },
  };
}
