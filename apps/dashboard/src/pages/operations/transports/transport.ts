import type { Outputs } from '../../../api/trpc.ts';

export type Transport = Outputs['transports']['list']['data'][number];
export type Rule = Outputs['transports']['rules']['data'][number];
