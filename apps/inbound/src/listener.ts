import type { Services } from '@postrider/core';
import { readReturnPath, recordReturned } from '@postrider/core/delivery';
import { bounceClientBounds, countRejected, NetworkPlaces } from '@postrider/core/shares';
import {
  type CameBack,
  createReturnedMailReader,
  type ReturnedMailReader,
  type ReturnedMailReaderOptions,
  startReturnServer,
} from '@postrider/mail';
import { certificateOf, watchCertificate } from './certificate.ts';
import { createMinuteTally } from './minute-tally.ts';

export interface Listener {
  readonly port: number;
  readonly reader: ReturnedMailReader;
  stop(): Promise<void>;
}

/** Starts the SMTP listener for bounces and complaints. Accepts only return addresses that we signed (VERP). */
export async function startListener(
  services: Services,
  port: number,
  reading: ReturnedMailReaderOptions = {},
): Promise<Listener> {
  const { config, log } = services;
  const reader = createReturnedMailReader(reading);
  const forged = createMinuteTally((count) =>
    log.warn({ forged: count }, 'rejected return addresses with invalid signatures'),
  );

  function isReturnPath(address: string): boolean {
    const read = readReturnPath(services, localPartOf(address));
    if (read.kind === 'forged') forged.note();
    return read.kind === 'ours';
  }

  async function take({ from, to, raw }: CameBack): Promise<'taken' | 'later'> {
    const read = readReturnPath(services, localPartOf(to));
    if (read.kind !== 'ours') return 'taken';
    const { message_id } = read.path;
    const mail = await reader.read(raw, from);
    if (mail.kind === 'unreadable') {
      // A retry would fail to parse as well.
      log.warn({ message_id, why: mail.why, lost_threads: reader.replaced() }, 'failed to parse a returned message');
      return 'taken';
    }
    try {
      const recorded = await recordReturned(services, read.path, mail);
      log.info({ message_id, ...recorded }, 'received a returned message');
      return recorded.kind === 'later' ? 'later' : 'taken';
    } catch (error) {
      log.error({ err: error, message_id }, 'failed to record a returned message');
      return 'later';
    }
  }

  const server = await startReturnServer({
    host: config.HOST,
    port,
    name: config.HELO_NAME ?? 'localhost',
    tls: await certificateOf(services),
    isReturnPath,
    onMail: take,
    places: new NetworkPlaces(bounceClientBounds, countRejected(services.metrics, 'bounce_clients')),
  });
  const unwatch = watchCertificate(services, (renewed) => server.useCertificate(renewed));
  return {
    port: server.port,
    reader,
    async stop() {
      unwatch();
      forged.stop();
      // Queued messages get a 451, so that a shutdown waits for at most one message.
      await Promise.all([reader.stop(), server.stop()]);
    },
  };
}

function localPartOf(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf('@')));
}
