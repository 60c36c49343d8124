import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { invoke } from '../operation/operation.ts';
import { createTransport } from './create-transport.ts';
import { isRelayed } from './relayed.ts';
import { setTransportRules } from './rules.ts';

const world = await openWorld({ DELIVERY: 'mx' });
const { services, workspace_id } = world;
const ctx = world.as(workspace_id);

it('a domain is relayed if its rules leave no email to a server of the recipient', async () => {
  const relayed = (from_domain: string) => isRelayed(services, { workspace_id, from_domain });
  const { id } = await invoke(ctx, createTransport, { name: 'SES', kind: 'smtp', host: 'relay.example.com' });
  const setRules = (...rules: object[]) => invoke(ctx, setTransportRules, { rules });
  expect(await relayed('shop.example')).toBe(false);

  await setRules({ from_domain: 'shop.example', tag: 'bulk', transports: [id] });
  expect(await relayed('shop.example')).toBe(false);

  await setRules({ from_domain: 'shop.example', transports: [id] });
  expect(await relayed('shop.example')).toBe(true);
  expect(await relayed('other.example')).toBe(false);

  await setRules({ transports: [id, 'default'] });
  expect(await relayed('shop.example')).toBe(false);
});
