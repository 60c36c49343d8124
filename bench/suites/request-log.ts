import { runOpenLoop } from '../measure/open-loop.ts';
import { type Keep, measureRounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { acceptRate } from '../product/accept-rate.ts';
import { onBenchServer } from '../product/database.ts';
import { type ProductDatabase, prepareProduct, startProduct } from '../product/product.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 100;
const CONNECTIONS = 64;
const WARM_SECONDS = 1;
// The log may cost 2 % of the accepted messages.
const MIN_SHARE = 0.98;
/** Rejected requests per second besides the accepted ones; only the accepted ones are counted. */
const REJECTED_SHARES = [0, 100];

type Setting = 'on' | 'off';
const seriesOf = (setting: Setting, rejected_share: number) =>
  `accepted/s with the request log ${setting}${rejected_share === 0 ? '' : `, plus ${rejected_share} rejected/s`}`;

/**
 * Measures the cost of the request log to accept, both when nothing is rejected and when there are rejections to log.
 * Turns with the log on and off alternate on one database, and every second round starts with the other setting.
 */
export function benchRequestLog({ rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('request_log'), KEYS);
    try {
      const rounds = await measureRounds({ rounds: count }, async (keep, round) => {
        const settings: readonly Setting[] = round % 2 === 0 ? ['off', 'on'] : ['on', 'off'];
        for (const rejected_share of REJECTED_SHARES)
          for (const setting of settings) await measureSetting(product, setting, rejected_share, seconds, keep);
      });
      const lines = REJECTED_SHARES.map((rejected_share) => {
        const [enabled, disabled] = [
          rounds.values(seriesOf('on', rejected_share)),
          rounds.values(seriesOf('off', rejected_share)),
        ];
        const value = `${median(enabled).toFixed(0)} ÷ ${median(disabled).toFixed(0)}`;
        // The goal applies to A1, where nothing is rejected.
        const goal = rejected_share === 0 ? { at_least: MIN_SHARE } : undefined;
        return line('T3', `${seriesOf('on', rejected_share)} ÷ off`, value, ratiosOf(enabled, disabled), goal);
      });
      return [{ title: 'Cost of the request log to accept (A1), alternating', lines, rounds }];
    } finally {
      await product.stop();
    }
  });
}

async function measureSetting(
  product: ProductDatabase,
  setting: Setting,
  rejected_share: number,
  seconds: number,
  keep: Keep,
): Promise<void> {
  await product.sql`truncate requests`;
  const requests = product.requestsOf({ to: ['ada'] });
  const start = async () => {
    const running = await startProduct(product, { ROLES: 'rest', REQUEST_LOG: setting });
    if (rejected_share === 0) return [running];
    const all = runOpenLoop({ port: running.port, rate: rejected_share, seconds: WARM_SECONDS + seconds, requests });
    const stop = async () => {
      await all;
      await running.stop();
    };
    return [{ ...running, stop }];
  };
  const { rate } = await acceptRate(product, start, { keys: KEYS, connections: CONNECTIONS, seconds });
  keep(seriesOf(setting, rejected_share), rate);
  const [row] = await product.sql<{ count: number }[]>`select count(*)::int as count from requests`;
  const expected = setting === 'on' ? rejected_share * (WARM_SECONDS + seconds) : 0;
  if (row?.count !== expected) throw new Error(`${row?.count} rejected requests were logged instead of ${expected}`);
}
