import { z } from 'zod';
import { accessScopes } from '../operation/access.ts';

export const chainField = z
  .enum(accessScopes)
  .default('workspace')
  .meta({ description: 'instance: entries that belong to no workspace; needs the scope operator.' });
