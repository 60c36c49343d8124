import { at, findAll, type HouseRule, sourceOf } from './tree.ts';

const DASHBOARD = 'apps/dashboard/src/';
const ROUTERS = 'apps/admin/src/trpc/';

// Code that may poll: the list itself, a failed query, lists whose rows stay, the stream, and clocks that request
// nothing.
const MAY_POLL = [
  'api/polled.ts',
  'api/trpc.ts',
  'api/live.ts',
  'parts/keyset.ts',
  'parts/clock.ts',
  'shell/page-failed.tsx',
].map((path) => DASHBOARD + path);

/** Rejects polling for data that the live stream reports. Exceptions are listed in one place with their reasons. */
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

const ROUTER = /\bconst (\w+) = router\(/g;
const PROCEDURE = /\b(\w+): (?:query|mutation)\(/g;

/**
 * Requires a caller for each procedure. The tRPC API belongs to the dashboard, so a procedure without a caller is code
 * that only tests run.
 */
export const proceduresCalled: HouseRule = (files) => {
  const callers = files
    .filter(({ path }) => path.startsWith(DASHBOARD) || path.startsWith('apps/admin/src/'))
    .filter(({ path }) => !path.startsWith(ROUTERS))
    .map(({ text }) => text)
    .join('\n');
  const isCalled = (router: string, name: string) =>
    new RegExp(`\\b${router}\\s*\\.\\s*${name}\\b`).test(callers) ||
    // The procedure is one of several that are selected by action name.
    (callers.includes(`.${router}[`) && callers.includes(`'${name}'`));
  return files
    .filter(({ path }) => path.startsWith(ROUTERS))
    .flatMap((file) => {
      const { code } = sourceOf(file);
      const routers = [...code.matchAll(ROUTER)];
      return [...code.matchAll(PROCEDURE)].flatMap((match) => {
        const router = routers.findLast(({ index }) => index < match.index)?.[1] ?? '';
        const name = match[1] ?? '';
        return isCalled(router, name)
          ? []
          : [at(file, match.index, `${router}.${name} has no caller in the dashboard`)];
      });
    });
};

/**
 * Requires a closable element, such as a dialog, to be opened by a search parameter instead of component state. The
 * values of its fields do not belong in the URL.
 */
export const dialogsInUrl: HouseRule = (files) =>
  files
    .filter(({ path }) => path.startsWith(DASHBOARD))
    .flatMap((file) => {
      const { code } = sourceOf(file);
      return [...code.matchAll(/\bconst \[(\w+)[^\]]*\] = useState\b/g)].flatMap(([, name]) =>
        findAll(
          file,
          code,
          new RegExp(`\\b${name}\\b[^{}<>;]*&&[\\s(]*<\\w+[^<]*?\\bonClose=`, 'g'),
          'a search parameter opens a dialog, so that Back closes it and a link opens it',
        ),
      );
    });
