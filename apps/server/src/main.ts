import { type Config, ConfigError, type Log, readConfig, redactConfig } from '@postrider/core';
import type { Provisioned } from '@postrider/core/workspaces';
import { banner, bannerLine, secretLines } from './banner.ts';
import { collectStartup } from './collect-startup.ts';
import { secretsOf, showSecrets } from './first-start.ts';
import { createLog, isHungUp } from './log.ts';
import { countOutages } from './outage-log.ts';
import { type Running, startPostrider } from './start.ts';

/** A hanging shutdown is forced this long before its grace period ends. */
const CUT_BEFORE_MS = 500;
// Set by `npm start`. An image contains a built dashboard and no tools to build one.
const BUILDS_DASHBOARD = '--build-dashboard';

await main();

async function main(): Promise<void> {
  const config = readConfigOrExit();
  if (!config) return;
  // A closed output must not crash the process and leave its embedded database running.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!isHungUp(error)) throw error;
    });
  }
  const log = countOutages(createLog(config, process.stderr.isTTY ?? false));
  const stopping = new AbortController();
  const stop_requested = signalled().then((signal) => {
    stopping.abort();
    log.info({ signal }, 'stopping');
    setTimeout(
      () => {
        log.error('shutdown timed out; exiting');
        process.exit(1);
      },
      config.SHUTDOWN_GRACE * 1000 - CUT_BEFORE_MS,
    ).unref();
  });
  const running = await startOrExplain(config, log, stopping.signal);
  if (!running) return;
  await stop_requested;
  try {
    await running.stop();
  } catch (error) {
    log.error({ err: error }, 'shutdown failed');
    process.exit(1);
  }
  log.info('stopped');
  // An SMTP session waiting for its final reply is already recorded, and would keep the process alive for minutes.
  process.exit(0);
}

async function startOrExplain(config: Config, log: Log, signal: AbortSignal): Promise<Running | null> {
  let created: Provisioned = { operator: null, api_key: null };
  const show = (login_link: string | null) =>
    showSecrets({ ...secretsOf(created), login_link }, config.DATA_DIR, process.stdout.isTTY ?? false);
  try {
    const as_json = config.LOG_FORMAT === 'json';
    const progress = (line: string) => (as_json ? log.info(line) : void process.stdout.write(`${line} …\n`));
    const keep = (provisioned: Provisioned) => {
      created = provisioned;
    };
    const running = await startPostrider(config, log, progress, signal, keep, process.argv.includes(BUILDS_DASHBOARD));
    log.debug({ config: redactConfig(config) }, 'configuration');
    const secrets = await show(running.login_link);
    process.stdout.write(`${as_json ? bannerLine(running, secrets) : banner(running, secrets)}\n`);
    collectStartup();
    return running;
  } catch (error) {
    const rows = secretLines(created.operator?.email ?? null, await show(null));
    if (rows.length > 0)
      process.stdout.write(`These were created and are kept for the next start:\n${rows.join('\n')}\n`);
    // Ctrl-C also reaches Postgres, which may have exited before this process handles its own signal.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) {
      log.info('stopped before startup finished');
      return null;
    }
    process.stderr.write(`Postrider could not start: ${error instanceof Error ? error.message : String(error)}\n`);
    log.debug({ err: error }, 'startup failed');
    process.exitCode = 1;
    return null;
  }
}

function readConfigOrExit() {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return null;
  }
}

/** Resolves with the first SIGTERM, Ctrl-C, or terminal hangup. Later signals have no effect. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
    process.on('SIGHUP', resolve);
  });
}
