import { ConfigError, readConfig, redactConfig } from '@postrider/core';
import { banner } from './banner.ts';
import { createLog } from './log.ts';
import { startPostrider } from './start.ts';

// SIGTERM leaves 15 s; the last one is for a stop that hangs.
const STOP_DEADLINE_MS = 14_000;

await main();

async function main(): Promise<void> {
  const config = readConfigOrExit();
  if (!config) return;
  const log = createLog(config, process.stdout.isTTY ?? false);
  const stopAsked = signalled();
  try {
    const running = await startPostrider(config, log, (line) => process.stdout.write(`${line} …\n`));
    log.debug({ config: redactConfig(config) }, 'configuration');
    process.stdout.write(`${banner(running)}\n`);
    const signal = await stopAsked;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('the stop took too long and was cut');
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    await running.stop();
  } catch (error) {
    process.stderr.write(`Postrider did not start: ${error instanceof Error ? error.message : String(error)}\n`);
    log.debug({ err: error }, 'the start failed');
    process.exitCode = 1;
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

/** The first SIGTERM or Ctrl-C; later ones change nothing, as the stop is under way. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}
