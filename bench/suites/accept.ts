import { measureRounds, type Rounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { prepareObvious } from '../peers/obvious.ts';
import { createRawLimit } from '../peers/raw-limit.ts';
import { type AcceptLoad, acceptRate } from '../product/accept-rate.ts';
import type { AcceptTarget } from '../product/accept-target.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { type ProductProcess, prepareProduct, startObvious, startProduct } from '../product/product.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 100;
const CONNECTIONS = [64, 128] as const;
const PROCESSES = [1, 2] as const;
const [FEW] = CONNECTIONS;

const L1 = 'L1, /s';
const product = (processes: number, connections: number) =>
  `${processes === 1 ? 'one process' : 'two processes'}, ${connections} connections`;
const MAIN_CASE = product(1, FEW);
const ONE_KEY = 'one key';
const HTML_ONLY = 'HTML only';
const OBVIOUS = 'obvious design';
const ALONE = 'one connection';
const STATEMENT = 'one statement, one connection';
const rateOf = (name: string) => `${name}, /s`;
const p50Of = (name: string) => `${name}, p50 ms`;
const p99Of = (name: string) => `${name}, p99 ms`;

/**
 * Measures A1, A2, A4 and A5: accept against the raw limit of the same server and against the straightforward design.
 */
export function benchAccept(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureAccept(server, options));
}

async function measureAccept(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const limit = await createRawLimit(await server.database('limit'));
  const own_product = await prepareProduct(await server.database('product'), KEYS);
  const peer_url = await server.database('obvious');
  const peer = await prepareObvious(peer_url, KEYS);
  const html_only = { ...own_product, requests: own_product.requestsOf({ text: undefined }) };
  const rest = (processes: number) => () =>
    Promise.all(Array.from({ length: processes }, () => startProduct(own_product, { ROLES: 'rest' })));
  const obvious = (mode: 'separate' | 'one-statement') => async () => [await startObvious(peer_url, mode)];
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      const measure = async (
        name: string,
        target: AcceptTarget,
        start: () => Promise<ProductProcess[]>,
        load: Partial<AcceptLoad>,
      ) => {
        const result = await acceptRate(target, start, { keys: KEYS, connections: FEW, seconds, ...load });
        keep(rateOf(name), result.rate);
        keep(p50Of(name), result.p50_ms);
        keep(p99Of(name), result.p99_ms);
      };
      keep(L1, (await limit.measure(seconds)).rate);
      for (const connections of CONNECTIONS) {
        for (const processes of PROCESSES) {
          await measure(product(processes, connections), own_product, rest(processes), { connections });
        }
      }
      await measure(ONE_KEY, own_product, rest(1), { keys: 1 });
      await measure(HTML_ONLY, html_only, rest(1), {});
      await measure(OBVIOUS, peer, obvious('separate'), {});
      await measure(ALONE, own_product, rest(1), { connections: 1 });
      await measure(STATEMENT, peer, obvious('one-statement'), { connections: 1 });
    });
    return [{ title: `Accept, ${seconds} s per case, medians`, lines: linesOf(rounds, limit.method), rounds }];
  } finally {
    await peer.stop();
    await own_product.stop();
    await limit.stop();
  }
}

function linesOf(rounds: Rounds, method: string): Line[] {
  const values = (series: string) => rounds.values(series);
  const figures = (name: string) => {
    const p50 = median(values(p50Of(name))).toFixed(1);
    const p99 = median(values(p99Of(name))).toFixed(1);
    return `${median(values(rateOf(name))).toFixed(0)}/s  p50 ${p50} ms  p99 ${p99} ms`;
  };
  const relativeTo = (name: string, other: string) => ratiosOf(values(rateOf(name)), values(rateOf(other)));
  const tail = ratiosOf(values(p99Of(MAIN_CASE)), values(p50Of(MAIN_CASE)));
  const a1 = CONNECTIONS.flatMap((connections) =>
    PROCESSES.map((processes) => {
      const name = product(processes, connections);
      const ratios = ratiosOf(values(rateOf(name)), values(L1));
      return line('A1', `accept, ${KEYS} keys, ${name} ÷ L1`, figures(name), ratios, { at_least: 1.2 });
    }),
  );
  return [
    line('L1', `begin, insert message, insert job, commit: ${method}`, `${median(values(L1)).toFixed(0)}/s`),
    ...a1,
    line('A2', `one key ÷ ${MAIN_CASE}`, figures(ONE_KEY), relativeTo(ONE_KEY, MAIN_CASE), { at_least: 0.9 }),
    line('', `HTML only ÷ ${MAIN_CASE}`, figures(HTML_ONLY), relativeTo(HTML_ONLY, MAIN_CASE)),
    line('A4', `${MAIN_CASE} ÷ the obvious design`, figures(OBVIOUS), relativeTo(MAIN_CASE, OBVIOUS), { at_least: 8 }),
    line(
      'A5',
      'one connection, p50 ÷ one statement per request',
      figures(ALONE),
      ratiosOf(values(p50Of(ALONE)), values(p50Of(STATEMENT))),
      { at_most: 1 },
    ),
    line('A5', `${MAIN_CASE}, p99 ÷ p50`, '', tail, { at_most: 4 }),
  ];
}
