import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface ApiKeysSearch {
  /** The open dialog. */
  readonly open?: 'new';
  readonly rotate?: string;
  readonly revoke?: string;
  /** Revoked and expired keys are shown too. */
  readonly gone?: true;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const apiKeyRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/api-keys',
    validateSearch({ open, rotate, revoke, gone }: Record<string, unknown>): ApiKeysSearch {
      const [of_rotate, of_revoke] = [textOf(rotate), textOf(revoke)];
      return {
        ...(open === 'new' && { open }),
        ...(gone === true && { gone }),
        ...(of_rotate && { rotate: of_rotate }),
        ...(of_revoke && { revoke: of_revoke }),
      };
    },
    component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
  }),
] as const;
