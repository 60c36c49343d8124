import type { Services } from '@postrider/core';

/** Repeats a task of this process, one run at a time. A failed run is logged, and the task continues to be repeated. */
export function repeatEvery(
  interval_ms: number,
  task: () => Promise<unknown>,
  services: Pick<Services, 'log'>,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer: NodeJS.Timeout;
  const run = async () => {
    try {
      await task();
    } catch (error) {
      services.log.error({ err: error }, 'a task failed and will run again');
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      running = run();
    }, interval_ms);
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
