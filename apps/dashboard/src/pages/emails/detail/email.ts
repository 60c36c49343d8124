import type { Outputs } from '../../../api/trpc.ts';

export type Email = Outputs['emails']['get'];
export type Recipient = Email['recipients'][number];
export type Attempt = Email['attempts'][number];
export type Waiting = NonNullable<Recipient['waiting']>;
