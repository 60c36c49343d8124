import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { keptSeconds, type RetentionKind, retentionKinds } from '../operation/retention.ts';
import { MAX_CAPTURED } from './captured.ts';

export { retentionKinds };

export const deliveryKinds = ['capture', 'mx', 'smtp'] as const;

/** The environment variable that sets the retention period of each kind. */
export const ageSettings = {
  messages: 'RETENTION_MESSAGES',
  bodies: 'RETENTION_BODIES',
  events: 'RETENTION_EVENTS',
  transcripts: 'RETENTION_TRANSCRIPTS',
  captures: 'RETENTION_CAPTURES',
  requests: 'RETENTION_REQUESTS',
} as const satisfies Record<RetentionKind, string>;

const retentionSchema = z
  .object({
    object: objectName('retention'),
    kinds: z
      .array(
        z.object({
          kind: z.enum(retentionKinds),
          kept_seconds: z.int().nullable().meta({
            description: 'null: kept indefinitely. Never longer than the email it belongs to.',
          }),
          setting: z.string().meta({ description: 'The environment variable that sets it.' }),
        }),
      )
      .readonly(),
    captured_bytes: z.int().meta({
      description: 'Captured email per workspace in bytes. The oldest is deleted first.',
    }),
    delivery: z.array(z.enum(deliveryKinds)).readonly().meta({
      description: 'Where live email goes: capture keeps it here. Email from sandbox keys is always captured.',
    }),
    transcripts: z.enum(['failures', 'all']).meta({ description: 'Which SMTP transcripts are kept.' }),
    request_log: z.boolean().meta({ description: 'Whether rejected and failed requests are stored.' }),
  })
  .meta({ id: 'Retention' });
export type RetentionView = z.output<typeof retentionSchema>;

/** Returns the retention periods. Like capture, they are process settings, the same for every workspace. */
export const getRetention = operation({
  name: 'retention.get',
  scope: 'admin',
  summary: 'Retention settings, and whether email is captured',
  input: z.object({}),
  output: retentionSchema,
  async run({ config }): Promise<RetentionView> {
    return {
      object: 'retention',
      kinds: retentionKinds.map((kind) => ({
        kind,
        kept_seconds: keptSeconds({ config }, kind),
        setting: ageSettings[kind],
      })),
      captured_bytes: MAX_CAPTURED,
      delivery: config.DELIVERY.map(({ kind }) => kind),
      transcripts: config.TRANSCRIPTS,
      request_log: config.REQUEST_LOG === 'on',
    };
  },
});
