import type { Sql } from '@postrider/db';
import type { Log } from '../context.ts';
import { touchKeys } from './store.ts';

const FLUSH_MS = 5000;

/** Collects which keys were used, and writes last_used_at away from the requests that used them. */
export interface KeyUses {
  note(key_id: string): void;
  stop(): Promise<void>;
}

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
      log.warn({ err: error }, 'last_used_at of keys was not written');
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
