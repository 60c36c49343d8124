import type { HttpGuardOptions } from '@postrider/net';
import type { Config } from './config.ts';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Returns what the webhooks and relays that customers name may reach: public addresses, plus loopback as long as no email leaves this machine. */
export function egressOf(config: Config): HttpGuardOptions {
  const captured = config.DELIVERY.every(({ kind }) => kind === 'capture');
  return {
    allow_networks: config.WEBHOOK_ALLOW_NETWORKS ?? (captured ? LOOPBACK : []),
    dns_servers: config.DNS_SERVERS,
  };
}
