import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { startEmbedded } from '@postrider/db/embedded';

// Runs beside a test run and ends when it does, however that ends: Ctrl-C and kill -9 leave no database behind.
const [directory = ''] = process.argv.slice(2);
process.stdin.resume();
process.stdin.on('end', async () => {
  if (!existsSync(directory)) return;
  // Joins the database that lost its only user, and leaves it as the last.
  const embedded = await startEmbedded({ data_dir: directory });
  await embedded.stop();
  await rm(directory, { recursive: true, force: true });
});
