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

// Runtimes differ in which of these globals they provide.
const here = globalThis as unknown as Host;

/** Reads POSTRIDER_URL and POSTRIDER_API_KEY, if the runtime has an environment. */
export function readEnvironment(): Environment {
  const env = here.process?.env;
  return { url: env?.POSTRIDER_URL || undefined, key: env?.POSTRIDER_API_KEY || undefined };
}

/**
 * Returns whether this is a web page or a web worker. Every browser's user agent contains Mozilla, and no server
 * runtime's does; a page emulated in Node, as in tests, counts as Node.
 */
export function isBrowser(host: Host = here): boolean {
  if (host.process?.versions?.node) return false;
  return host.document !== undefined || (host.navigator?.userAgent ?? '').startsWith('Mozilla/');
}
