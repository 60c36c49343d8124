import { z } from 'zod';
import { accessScopes } from '../operation/access.ts';

export const chainField = z
  .enum(accessScopes)
  .default('workspace')
  .meta({ description: 'instance: entries without a workspace. Requires the operator scope.' });
