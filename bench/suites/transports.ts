import { newId } from '@postrider/core';
import { costOf, flowText, keepFlow, rateOf } from '../measure/flow.ts';
import { measureRounds } from '../measure/rounds.ts';
import { ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { onBenchServer } from '../product/database.ts';
import { DRAINED_PER_SECOND, drainProduct, flowThroughProduct } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 10;
const SMALL = 4 * 1024;

interface Setting {
  readonly name: string;
  readonly transports: number;
  readonly rules: number;
}

const NONE: Setting = { name: 'DELIVERY only', transports: 0, rules: 0 };
const ONE: Setting = { name: 'one transport', transports: 1, rules: 1 };
const MANY: Setting = { name: '20 transports, 200 rules', transports: 20, rules: 200 };
const settings = [NONE, ONE, MANY];
const flowOf = ({ name }: Setting) => `HTTP → receiver, ${name}`;
const drainOf = ({ name }: Setting) => `drain, ${name}`;

/** Measures D1 and D3 through a transport, and through the last of many rules, against DELIVERY only. */
export function benchTransports({ rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('transports'), KEYS);
    try {
      const rounds = await measureRounds({ rounds: count }, async (keep, round) => {
        const order = round % 2 === 0 ? settings : settings.toReversed();
        for (const setting of order) {
          const prepare = (port: number) => useTransports(product, setting, port);
          keepFlow(keep, flowOf(setting), await flowThroughProduct(product, SMALL, seconds, prepare));
          const { flow } = await drainProduct(product, letter(SMALL), seconds * DRAINED_PER_SECOND, 1, prepare);
          keepFlow(keep, drainOf(setting), flow);
        }
      });
      const lines = [ONE, MANY].flatMap((setting) =>
        [flowOf, drainOf].flatMap((nameOf) => {
          const [name, base] = [nameOf(setting), nameOf(NONE)];
          const goal = { at_least: setting === ONE ? 0.97 : 0.95 };
          return [
            line(
              '',
              name,
              flowText(rounds, name),
              ratiosOf(rounds.values(rateOf(name)), rounds.values(rateOf(base))),
              goal,
            ),
            line(
              '',
              'processor time per email',
              '',
              ratiosOf(rounds.values(costOf(name)), rounds.values(costOf(base))),
            ),
          ];
        }),
      );
      const base = [flowOf, drainOf].map((nameOf) => line('', nameOf(NONE), flowText(rounds, nameOf(NONE))));
      return [{ title: 'Transports and rules ÷ DELIVERY only, 4 kB', lines: [...base, ...lines], rounds }];
    } finally {
      await product.stop();
    }
  });
}

/** Creates transports to the receiver, and rules of which only the last one matches. */
async function useTransports({ sql }: ProductDatabase, { transports, rules }: Setting, port: number): Promise<void> {
  await sql`delete from transport_rules`;
  await sql`delete from transports`;
  const now_ms = Math.floor(performance.timeOrigin + performance.now());
  const ids = Array.from({ length: transports }, () => newId('transport', now_ms));
  for (const [index, id] of ids.entries()) {
    await sql`
      insert into transports (id, name, kind, host, port, tls, created_at, updated_at)
      values (${id}, ${`Relay ${index}`}, 'smtp', '127.0.0.1', ${port}, 'none', now(), now())`;
  }
  for (let position = 1; position <= rules; position++) {
    const id = ids[position % ids.length] ?? '';
    const tag = position < rules ? `tag${position}` : null;
    await sql`insert into transport_rules (position, tag, transports) values (${position}, ${tag}, ${[id]}::uuid[])`;
  }
  await sql`update transport_versions set version = version + 1`;
}
