import { searchDocs } from '../docs/search-docs.ts';
import { query, router } from './kit/invoke-procedure.ts';

export const docs = router({ search: query(searchDocs) });
