import type { Outputs } from '../../../api/trpc.ts';

export type Key = Outputs['apiKeys']['list']['data'][number];
export type CreatedKey = Outputs['apiKeys']['create'];
