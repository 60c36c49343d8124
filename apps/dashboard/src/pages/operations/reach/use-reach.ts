import { useMatches } from '@tanstack/react-router';

export type Reach = 'workspace' | 'instance';

/**
 * Returns what a page covers that both the workspace and the instance have. Its route decides: while the next page
 * loads, the URL is already that page's.
 */
export function useReach(): Reach {
  return useMatches({
    select: (matches) => (String(matches.at(-1)?.routeId).startsWith('/shell/instance/') ? 'instance' : 'workspace'),
  });
}
