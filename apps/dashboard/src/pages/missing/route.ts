import { createRoute } from '@tanstack/react-router';
import { PageMissing } from '../../shell/page-failed.tsx';
import { shellRoute } from '../../shell/routes.ts';

/** The fallback for unknown paths, shown next to the navigation. */
export const missingRoutes = [
  createRoute({ getParentRoute: () => shellRoute, path: '$', component: PageMissing }),
] as const;
