import { afterAll } from 'vitest';
import { createWorld, type World } from './world.ts';

/**
 * Opens the world of a test file: `const world = await openWorld()`. The world stops after the last test and the file's
 * own hooks.
 */
export async function openWorld(env: Readonly<Record<string, string>> = {}): Promise<World> {
  return endAfterTests(await createWorld(env));
}

/** Stops a part of the fixture after the last test, in reverse order of opening. */
export function endAfterTests<T extends { stop(): Promise<unknown> }>(part: T): T {
  afterAll(async () => {
    await part.stop();
  });
  return part;
}
