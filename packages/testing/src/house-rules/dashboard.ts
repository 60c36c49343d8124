import { findAll, type HouseRule, sourceOf } from './tree.ts';

const DASHBOARD = 'apps/dashboard/src/';

// The list itself, a query that failed, lists whose rows stay, the stream, and clocks that ask nothing.
const MAY_POLL = [
  'api/polled.ts',
  'api/trpc.ts',
  'api/live.ts',
  'parts/keyset.ts',
  'parts/clock.ts',
  'shell/page-failed.tsx',
].map((path) => DASHBOARD + path);

/** What the live stream tells is not polled as well; the rest stands in one list with its reason. */
export const pollingListed: HouseRule = (files) =>
  files
    .filter(({ path }) => path.startsWith(DASHBOARD) && !MAY_POLL.includes(path))
    .flatMap((file) =>
      findAll(
        file,
        sourceOf(file).code,
        /\brefetchInterval\b|\bsetInterval\(/g,
        'the live stream tells; what it cannot tell stands in apps/dashboard/src/api/polled.ts',
      ),
    );
