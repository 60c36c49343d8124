import { type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

export interface Instance {
  /** The base URL, which ends with /v1. */
  readonly base: string;
  readonly key: string;
  stop(): Promise<void>;
}

/** Starts a service as installed, with verified domains and a key with every scope. */
export async function startInstance(verified: readonly string[] = []): Promise<Instance> {
  const journey: Journey = await openJourney({ DELIVERY: 'capture' });
  const server: ServerProcess = await journey.start();
  for (const name of verified) await journey.verify(name);
  return { base: `${server.url}/v1`, key: journey.secret, stop: () => journey.stop() };
}
