import { AppError, newId } from '@postrider/core';
import { getRequest, listRequests } from '@postrider/core/requests';
import type { World } from '@postrider/testing';
import { absent, connection, fields, type Setup, useCase } from '../use-case.ts';
import { several } from './setup.ts';

/** Adds a rejected request of the workspace to the log. */
async function aRejection(world: World, workspace_id: string, number: number): Promise<Setup> {
  const { services, clock } = world;
  await clock.advance(1);
  const id = newId('request', clock.now());
  services.request_log.note({
    id,
    api: 'rest',
    method: 'POST',
    path: '/email/send',
    status: 400,
    error: new AppError('invalid_email', `Not one address: nr${number}`, {
      details: [{ param: 'to[0]', reason: 'invalid_email', message: 'Not one address.' }],
    }),
    actor: { kind: 'system', workspace_id },
    secret_hash: null,
    address: null,
    input: { to: ['nobody'] },
    duration_ms: 2,
  });
  await services.request_log.flush();
  return { input: { id } };
}

export const requests = [
  useCase(listRequests, {
    rest: 'GET /requests',
    trpc: 'GET requests.list',
    graphql: connection(
      'requests',
      `${fields('id at api method path status code reason message duration_ms body')} api_key_id: apiKey { id }
       faults { pointer reason message }`,
      { filter: 'RequestFilter' },
      ({ input: { reason } }) => ({ filter: { reasons: [reason] } }),
    ),
    given: (world, workspace_id, number) =>
      several(() => aRejection(world, workspace_id, number), { reason: 'invalid_email' }),
    paged: true,
    bad: { limit: 101 },
  }),
  useCase(getRequest, {
    rest: 'GET /requests/{id}',
    trpc: 'GET requests.get',
    graphql: absent('The list has all of it.'),
    given: aRejection,
    target: 'id',
  }),
];
