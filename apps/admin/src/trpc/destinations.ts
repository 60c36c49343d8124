import { limitDestination, listDestinations, releaseDestination } from '@postrider/core/lanes';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const destinations = router({
  list: query(listDestinations),
  limit: mutation(limitDestination),
  release: mutation(releaseDestination),
});
