import { invoke } from '@postrider/core';
import {
  clearCaptures,
  deleteCapture,
  getCapture,
  listCaptures,
  recordCapture,
  releaseCapture,
} from '@postrider/core/captures';
import type { World } from '@postrider/testing';
import { absent, connection, fields, mutation, type Setup, useCase } from '../use-case.ts';
import { several } from './setup.ts';

const shownCapture = fields('id from sender to subject size_bytes received_at');

/** Creates a message captured from another program. */
async function captured(world: World, workspace_id: string, number: number): Promise<Setup> {
  const to = `reader@nr${number}.example.com`;
  const raw = Buffer.from(
    `From: shop@sandbox.test\r\nTo: ${to}\r\nSubject: Code\r\n\r\nYour code is 493817, see https://shop.test/in\r\n`,
  );
  await world.clock.advance(1);
  await recordCapture(world.services, { envelope_from: 'shop@sandbox.test', envelope_to: [to], raw }, workspace_id);
  const { data } = await invoke(world.as(workspace_id), listCaptures, { to });
  return { input: { id: data[0]?.id ?? '' } };
}

export const captures = [
  useCase(listCaptures, {
    rest: 'GET /captures',
    trpc: 'GET captures.list',
    graphql: connection(
      'captures',
      `${shownCapture} email_id: message { id }`,
      { filter: 'CaptureFilter' },
      ({ input: { to } }) => ({ filter: { to } }),
    ),
    given: (world, workspace_id, number) =>
      several(() => captured(world, workspace_id, number), { to: `reader@nr${number}.example.com` }),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getCapture, {
    rest: 'GET /captures/{id}',
    trpc: 'GET captures.get',
    graphql: absent('The content is a field of the list.'),
    scope: 'admin',
    given: captured,
    target: 'id',
  }),
  useCase(deleteCapture, {
    rest: 'DELETE /captures/{id}',
    trpc: 'POST captures.delete',
    graphql: mutation('captureDelete', 'TargetInput', 'DeletePayload', 'deletedId'),
    scope: 'admin',
    given: captured,
    target: 'id',
    writes: true,
    varying: ['deleted_id'],
  }),
  useCase(releaseCapture, {
    rest: 'POST /captures/{id}/release',
    trpc: 'POST captures.release',
    graphql: mutation('captureRelease', 'CaptureReleaseInput', 'MessagePayload', 'of: email { id status createdAt }'),
    scope: 'admin',
    given: captured,
    target: 'id',
    writes: true,
  }),
  useCase(clearCaptures, {
    rest: 'DELETE /captures',
    trpc: 'POST captures.clear',
    graphql: mutation('capturesClear', 'CapturesClearInput', 'CapturesClearPayload', 'deleted', () => ({ all: true })),
    scope: 'admin',
    async given(world, workspace_id, number) {
      await captured(world, workspace_id, number);
      return { input: {} };
    },
    writes: true,
    varying: ['deleted'],
  }),
];
