import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { startEmbedded } from '@postrider/db/embedded';

// Runs alongside a test run and stops the database afterwards, so that Ctrl-C or kill -9 leaves no database running.
const [directory = ''] = process.argv.slice(2);
process.stdin.resume();
process.stdin.on('end', async () => {
  if (!existsSync(directory)) return;
  // The test run, which was the only process using this Postgres, has exited. This process attaches, so that stop() is
  // the last release and shuts Postgres down.
  const embedded = await startEmbedded({ data_dir: directory });
  await embedded.stop();
  await rm(directory, { recursive: true, force: true });
});
