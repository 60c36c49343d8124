import { listRequests, type RequestEntry } from '@postrider/core/requests';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { page } from '../kit/from-operation.ts';
import { ApiKey } from '../kit/refs.ts';

const RequestFault = builder.objectRef<RequestEntry['faults'][number]>('RequestFault').implement({
  fields: (t) => ({
    pointer: t.exposeString('pointer', { description: 'The field as a JSON pointer.' }),
    reason: t.exposeString('reason'),
    message: t.exposeString('message'),
  }),
});

const RefusedRequest = builder.objectRef<RequestEntry>('Request').implement({
  description: 'A rejected or failed request.',
  fields: (t) => ({
    id: t.exposeID('id'),
    at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    api: t.exposeString('api'),
    method: t.exposeString('method'),
    path: t.exposeString('path', { description: 'The route without IDs and addresses.' }),
    status: t.exposeInt('status'),
    code: t.exposeString('code'),
    reason: t.exposeString('reason'),
    message: t.exposeString('message'),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      resolve: ({ api_key_id }, _, { load }) => (api_key_id === null ? null : load.keys.load(api_key_id)),
    }),
    durationMs: t.int({ resolve: ({ duration_ms }) => duration_ms }),
    faults: t.field({ type: [RequestFault], resolve: ({ faults }) => faults }),
    body: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The request body, up to 4 kB, with addresses masked and content omitted.',
      resolve: ({ body }) => body,
    }),
  }),
});

const RequestFilter = builder.inputType('RequestFilter', {
  fields: (t) => ({
    reasons: t.stringList({ description: 'Any of these.' }),
    apiKeyId: t.id(),
    since: t.field({ type: 'DateTime', description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }),
});

builder.queryField('requests', (t) =>
  t.field({
    type: connectionOf(RefusedRequest),
    description: 'Rejected and failed requests, newest first.',
    args: { ...pageArgs(t), filter: t.arg({ type: RequestFilter }) },
    resolve: (_, { filter, ...args }, g) => {
      const { reasons, ...rest } = filter ?? {};
      return page(g, listRequests, args, { ...rest, reason: reasons?.join(',') });
    },
  }),
);
