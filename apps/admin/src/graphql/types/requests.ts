import { listRequests, type RequestEntry } from '@postrider/core/requests';
import { builder } from '../kit/builder.ts';
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { page } from '../kit/from-operation.ts';
import { ApiKey } from '../kit/refs.ts';

const RequestFault = builder.objectRef<RequestEntry['faults'][number]>('RequestFault').implement({
  description: 'An invalid field of a request.',
  fields: (t) => ({
    pointer: t.exposeString('pointer', { description: 'The field as a JSON pointer.' }),
    reason: t.exposeString('reason', { description: 'The exact reason, such as invalid_email.' }),
    message: t.exposeString('message', { description: 'How to fix this field.' }),
  }),
});

const RefusedRequest = builder.objectRef<RequestEntry>('Request').implement({
  description: 'A rejected or failed request.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The request ID from the response.' }),
    at: t.field({ type: 'DateTime', description: 'When the request was received.', resolve: ({ at }) => at }),
    api: t.exposeString('api', { description: 'rest or trpc.' }),
    method: t.exposeString('method', { description: 'The HTTP method.' }),
    path: t.exposeString('path', { description: 'The route without IDs and addresses.' }),
    status: t.exposeInt('status', { description: 'The HTTP status of the response.' }),
    code: t.exposeString('code', { description: 'The kind of error.' }),
    reason: t.exposeString('reason', { description: 'The exact reason, more specific than the code.' }),
    message: t.exposeString('message', { description: 'How to fix the error, with masked addresses.' }),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The key that sent it; null: none. Requires admin.',
      resolve: ({ api_key_id }, _, { load }) => (api_key_id === null ? null : load.keys.load(api_key_id)),
    }),
    durationMs: t.int({ description: 'The duration in milliseconds.', resolve: ({ duration_ms }) => duration_ms }),
    faults: t.field({ type: [RequestFault], description: 'All invalid fields.', resolve: ({ faults }) => faults }),
    body: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The request body, up to 4 kB, with addresses masked and content omitted.',
      resolve: ({ body }) => body,
    }),
  }),
});

const RequestFilter = builder.inputType('RequestFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    reasons: t.stringList({ description: 'Any of these.' }),
    apiKeyId: t.id({ description: 'The key that sent the requests.' }),
    since: t.field({ type: 'DateTime', description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }),
});

builder.queryField('requests', (t) =>
  t.field({
    type: connectionOf(RefusedRequest),
    description: 'Rejected and failed requests, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, RequestFilter) },
    resolve: (_, { filter, ...args }, g) => {
      const { reasons, ...rest } = filter ?? {};
      return page(g, listRequests, args, { ...rest, reason: reasons?.join(',') });
    },
  }),
);
