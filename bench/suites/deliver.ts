import { availableParallelism } from 'node:os';
import { costOf, flowText, keepFlow, rateOf } from '../measure/flow.ts';
import { type Keep, measureRounds, type Rounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { postfixProblem } from '../peers/postfix.ts';
import { flowThroughPostfix } from '../peers/postfix-flow.ts';
import { postfixLatency } from '../peers/postfix-latency.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { DRAINED_PER_SECOND, drainProduct, flowThroughProduct, paceThroughProduct } from '../product/delivery-flow.ts';
import { prepareProduct } from '../product/product.ts';
import { htmlLetter, letter } from '../product/sample.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 10;
const SMALL = 4 * 1024;
const LARGE = 100 * 1024;
const PACE = 50;
/** The comparison uses the session count at which Postfix is fastest. */
const SESSIONS = [8, 20, 50] as const;

const OURS = 'product, 4 kB';
const OURS_LARGE = 'product, 100 kB';
const SIGNED = 'Postfix and OpenDKIM, 4 kB';
const SIGNED_LARGE = 'Postfix and OpenDKIM, 100 kB';
const UNSIGNED = 'Postfix, 4 kB';
const DRAIN = 'drain, 4 kB';
const HTML_DRAIN = 'drain, 4 kB, HTML only';
const SIGNATURES = 'RSA-2048 signatures around the drain, /s';
const LATENCY = 'product, p99 ms';
const POSTFIX_LATENCY = 'Postfix and OpenDKIM, p99 ms';
const PACED_COST = `REST and Postgres processor time per email at ${PACE}/s, ms`;
const withSessions = (peer: string, sessions: number) => `${peer}, ${sessions} sessions`;

/** Measures D1 to D4 and D6: delivery from HTTP to a receiver, against Postfix and the cost of a signature. */
export function benchDeliver(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureDeliver(server, options));
}

async function measureDeliver(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const product = await prepareProduct(await server.database('product'), KEYS);
  const problem = postfixProblem();
  if (problem) process.stdout.write(`\nPostfix and OpenDKIM cannot run here, so there is no comparison: ${problem}.\n`);
  let unsigned_messages = 0;
  const latency = { seconds: seconds * 2, pace: PACE };
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      keepFlow(keep, OURS, await flowThroughProduct(product, SMALL, seconds));
      if (!problem) {
        await keepPostfix(keep, SIGNED, true, SMALL, seconds * 500);
        await keepPostfix(keep, UNSIGNED, false, SMALL, seconds * 800);
      }
      const { flow, signatures } = await drainProduct(product, letter(SMALL), seconds * DRAINED_PER_SECOND, seconds);
      keepFlow(keep, DRAIN, flow);
      keepFlow(
        keep,
        HTML_DRAIN,
        (await drainProduct(product, htmlLetter(SMALL), seconds * DRAINED_PER_SECOND, 1)).flow,
      );
      keep(SIGNATURES, signatures);
      keepFlow(keep, OURS_LARGE, await flowThroughProduct(product, LARGE, seconds));
      if (!problem) await keepPostfix(keep, SIGNED_LARGE, true, LARGE, seconds * 100);
      const on_mail = (mail: string) => {
        if (!/^DKIM-Signature:/im.test(mail)) unsigned_messages += 1;
      };
      const paced = await paceThroughProduct(product, SMALL, { ...latency, on_mail });
      keep(LATENCY, paced.p99_ms);
      keep(PACED_COST, paced.cpu_us / 1000);
      if (!problem) keep(POSTFIX_LATENCY, await postfixLatency(latency, letter(SMALL * 3).text));
    });
    if (unsigned_messages > 0) throw new Error(`${unsigned_messages} messages arrived without a signature`);
    return [{ title: 'Delivery, medians', lines: linesOf(rounds), rounds }];
  } finally {
    await product.stop();
  }
}

async function keepPostfix(keep: Keep, peer: string, signed: boolean, bytes: number, count: number): Promise<void> {
  for (const sessions of SESSIONS) {
    keepFlow(keep, withSessions(peer, sessions), await flowThroughPostfix({ signed, sessions, bytes, count }));
  }
}

/** Returns the number of sessions at which the peer's median rate is highest. */
function bestOf(rounds: Rounds, peer: string): string {
  const rate = (sessions: number) => median(rounds.values(rateOf(withSessions(peer, sessions))));
  const best = SESSIONS.reduce((left, right) => (rate(right) > rate(left) ? right : left));
  return withSessions(peer, best);
}

function linesOf(rounds: Rounds): Line[] {
  const [signed, unsigned, large] = [SIGNED, UNSIGNED, SIGNED_LARGE].map((peer) => bestOf(rounds, peer));
  const rates = (name = '') => rounds.values(rateOf(name));
  const costs = (name = '') => rounds.values(costOf(name));
  const signatures = rounds.values(SIGNATURES);
  const signatureCosts = signatures.map((rate) => (1e6 * availableParallelism()) / rate);
  const [ours_p99, postfix_p99] = [rounds.values(LATENCY), rounds.values(POSTFIX_LATENCY)];
  const ms = (values: readonly number[]) => (values.length === 0 ? 'not measured' : `${median(values).toFixed(1)} ms`);
  const peers = [SIGNED, UNSIGNED, SIGNED_LARGE].flatMap((peer) =>
    SESSIONS.map((sessions) => line('', withSessions(peer, sessions), flowText(rounds, withSessions(peer, sessions)))),
  );
  return [
    line('', 'RSA-2048 signatures on all processors, around the drain', `${median(signatures).toFixed(0)}/s`),
    ...peers,
    line(
      'D1',
      `HTTP → commit → receiver, 4 kB ÷ ${signed}`,
      flowText(rounds, OURS),
      ratiosOf(rates(OURS), rates(signed)),
      { at_least: 6 },
    ),
    line('D1', `processor time per email ÷ ${signed}`, '', ratiosOf(costs(OURS), costs(signed)), { at_most: 0.2 }),
    line('D2', `HTTP → commit → receiver, 4 kB ÷ ${unsigned}`, '', ratiosOf(rates(OURS), rates(unsigned)), {
      at_least: 3,
    }),
    line('D3', 'draining a full queue ÷ signatures', flowText(rounds, DRAIN), ratiosOf(rates(DRAIN), signatures), {
      at_least: 0.45,
    }),
    line(
      '',
      'the same with HTML only ÷ with text',
      flowText(rounds, HTML_DRAIN),
      ratiosOf(rates(HTML_DRAIN), rates(DRAIN)),
      {
        at_least: 0.9,
      },
    ),
    line(
      '',
      'worker and Postgres processor time per drained email ÷ one signature',
      '',
      ratiosOf(costs(DRAIN), signatureCosts),
      {
        at_most: 2.75,
      },
    ),
    line(
      'D4',
      `p99 from request to receiver at ${PACE}/s ÷ Postfix and OpenDKIM`,
      `${ms(ours_p99)} ÷ ${ms(postfix_p99)}`,
      ratiosOf(ours_p99, postfix_p99),
      { at_most: 1.5 },
    ),
    line('', PACED_COST, ms(rounds.values(PACED_COST))),
    line(
      'D6',
      `HTTP → commit → receiver, 100 kB ÷ ${large}`,
      flowText(rounds, OURS_LARGE),
      ratiosOf(rates(OURS_LARGE), rates(large)),
      { at_least: 1.5 },
    ),
  ];
}
