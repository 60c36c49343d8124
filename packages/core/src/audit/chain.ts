import { z } from 'zod';
import { reaches } from '../reach.ts';

export const chainField = z
  .enum(reaches)
  .default('workspace')
  .meta({ description: 'instance: what belongs to no workspace; it needs the scope operator.' });
