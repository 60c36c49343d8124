import { createHttpGuard } from '@postrider/net';
import type { Services } from '../operation/context.ts';
import { egressOf } from '../process/egress.ts';

// A provider replaces its certificate now and then, and both are then in use for a while.
const MAX_PER_TRANSPORT = 4;
const MAX_TRANSPORTS = 1000;
const OK = 200;

/** Gets documents of providers over verified HTTPS, from public addresses only. */
export interface ProviderDocuments {
  /** Returns a certificate, from the cache of its transport if it is there. Rejects if the provider does not return it. */
  certificateAt(transport_id: string, url: URL): Promise<string>;
  /** Requests a URL. Rejects if the provider does not confirm it. */
  visit(url: URL): Promise<void>;
}

export function createProviderDocuments(
  services: Pick<Services, 'config'>,
  https_port: number | undefined,
): ProviderDocuments {
  /** By transport, so that none can push the certificates of another out. */
  const certificates = new Map<string, Map<string, Promise<string>>>();
  const get = async (url: URL): Promise<string> => {
    const place = new URL(url);
    if (https_port !== undefined) place.port = String(https_port);
    const http = createHttpGuard(egressOf(services.config));
    try {
      const response = await http.get(place.href);
      if (response.kind === 'failed') throw new Error(`${url.host}: ${response.error}`);
      // A redirect could lead to another host.
      if (response.status !== OK) throw new Error(`${url.host} responded with ${response.status}`);
      return response.body.toString('utf8');
    } finally {
      await http.stop();
    }
  };
  return {
    async certificateAt(transport_id, url) {
      const own = certificates.get(transport_id) ?? new Map<string, Promise<string>>();
      certificates.set(transport_id, own);
      forgetOldest(certificates, MAX_TRANSPORTS);
      const cached = own.get(url.href);
      if (cached) return cached;
      const certificate = get(url);
      own.set(url.href, certificate);
      forgetOldest(own, MAX_PER_TRANSPORT);
      // The next request tries again.
      certificate.catch(() => own.delete(url.href));
      return certificate;
    },
    async visit(url) {
      await get(url);
    },
  };
}

function forgetOldest(entries: Map<string, unknown>, max: number): void {
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}
