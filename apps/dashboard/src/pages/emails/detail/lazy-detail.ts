import { lazyRouteComponent } from '@tanstack/react-router';

/** The list needs it only once an email is opened in the drawer. */
export const LazyEmailDetail = lazyRouteComponent(() => import('./email-detail.tsx'), 'EmailDetail');
