import type { HttpGuardOptions } from '@postrider/mail';
import type { Config } from '../config.ts';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Where webhooks may be posted to: public addresses, and while nothing leaves this machine, the machine itself. */
export function egressOf(config: Config): HttpGuardOptions {
  const captured = config.DELIVERY.every(({ kind }) => kind === 'capture');
  return {
    allow_networks: config.WEBHOOK_ALLOW_NETWORKS ?? (captured ? LOOPBACK : []),
    dns_servers: config.DNS_SERVERS,
  };
}
