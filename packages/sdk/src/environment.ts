export interface Environment {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

export interface Host {
  readonly process?: {
    readonly versions?: { readonly node?: string };
    readonly env?: Readonly<Record<string, string | undefined>>;
  };
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}

// Runtimes differ in which of these globals they have, so none is taken for granted.
const here = globalThis as unknown as Host;

/** What POSTRIDER_URL and POSTRIDER_API_KEY say, where the runtime has an environment. */
export function readEnvironment(): Environment {
  const env = here.process?.env;
  return { url: env?.POSTRIDER_URL || undefined, key: env?.POSTRIDER_API_KEY || undefined };
}

/**
 * Whether this is a web page or a worker of one. Every browser calls itself Mozilla, and no server runtime does; a page
 * that a test builds in Node is Node.
 */
export function isBrowser(host: Host = here): boolean {
  if (host.process?.versions?.node) return false;
  return host.document !== undefined || (host.navigator?.userAgent ?? '').startsWith('Mozilla/');
}
