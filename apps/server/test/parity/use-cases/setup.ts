import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { addDomain } from '@postrider/core/domains';
import type { World } from '@postrider/testing';
import { absent, type Input, reading, type Setup, type UseCase } from '../use-case.ts';

export const HOUR_MS = 3_600_000;
export const NO_REST = absent('REST is for programs that send; administration is on the other two.');

export const NO_PAGE = absent('No page of the dashboard asks for it.');

export const emptySetup = async (): Promise<Setup> => ({ input: {} });
export const withInput = (input: Input) => async (): Promise<Setup> => ({ input });

/** Reads an object through `node(id)`, which returns null if it does not exist. */
export const node = (type: string, selection: string, id: (setup: Setup) => unknown = ({ input }) => input.id) =>
  reading('node', { id: 'ID!' }, `... on ${type} { ${selection} }`, (other) => ({ id: id(other) }));

export const idOnly = ({ input }: Setup) => ({ id: input.id });

export async function send(world: World, workspace_id: string, number: number, extra: Input = {}): Promise<Setup> {
  const { id } = await invoke(world.as(workspace_id), sendMessage, {
    from: 'shop@sandbox.test',
    to: [`reader@nr${number}.example.com`],
    subject: 'Hello',
    text: 'Hi',
    tags: ['parity'],
    ...extra,
  });
  // Events are ordered by ID, and IDs have millisecond precision, so the clock has to advance.
  await world.clock.advance(1);
  return { input: { id } };
}

export const sent: UseCase['given'] = (world, workspace_id, number) => send(world, workspace_id, number);
export const scheduled: UseCase['given'] = (world, workspace_id, number) =>
  send(world, workspace_id, number, { scheduled_at: hoursAhead(world) });

export function hoursAhead(world: World, hours = 1): string {
  return new Date(world.clock.now() + hours * HOUR_MS).toISOString();
}

export const aDomain: UseCase['given'] = async (world, workspace_id, number) => {
  const { id, name } = await invoke(world.as(workspace_id), addDomain, { name: `nr${number}.example.org` });
  return { input: { domain: name }, ids: { domain: id } };
};

/** Creates the object several times. */
export async function several(make: () => Promise<unknown>, input: Input = {}): Promise<Setup> {
  for (let count = 0; count < 5; count++) await make();
  return { input };
}
