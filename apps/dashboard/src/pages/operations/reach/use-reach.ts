import { useLocation } from '@tanstack/react-router';

export type Reach = 'workspace' | 'instance';

/** Returns what a page covers that both the workspace and the instance have. Its URL decides. */
export function useReach(): Reach {
  return useLocation({ select: ({ pathname }) => (pathname.startsWith('/instance/') ? 'instance' : 'workspace') });
}
