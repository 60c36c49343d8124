import { isBrowser, readEnvironment } from './environment.ts';
import { ConfigurationError } from './errors.ts';
import { Resources, WebhooksCalls } from './generated/resources.ts';
import type { WebhookEvent } from './generated/schemas.ts';
import { type Calls, createCalls } from './transport.ts';
import { SDK_VERSION } from './version.ts';
import { type ReceivedHeaders, type VerifyOptions, verifyWebhook } from './webhook-signature.ts';

export interface PostriderOptions {
  /** An API key; defaults to POSTRIDER_API_KEY from the environment. */
  readonly key?: string | undefined;
  /**
   * The URL of Postrider, with or without /v1; defaults to POSTRIDER_URL from the environment, then
   * http://localhost:3000.
   */
  readonly url?: string | undefined;
  /** The timeout per attempt; defaults to 60 s. */
  readonly timeout_ms?: number | undefined;
  /** How many times a failed call is retried if that is safe; defaults to 2. */
  readonly max_retries?: number | undefined;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}

const DEFAULT_URL = 'http://localhost:3000';
const TIMEOUT_MS = 60_000;
const MAX_RETRIES = 2;

/** Webhook endpoints, and verification of the requests they receive. */
export class WebhooksWithVerify extends WebhooksCalls {
  /** Verifies a webhook request and returns its event. `verifyWebhook` does the same without a client. */
  verify(
    body: string | Uint8Array | ArrayBuffer,
    headers: ReceivedHeaders,
    secret: string | readonly string[],
    options?: VerifyOptions,
  ): Promise<WebhookEvent> {
    return verifyWebhook(body, headers, secret, options);
  }
}

/** A client for one Postrider instance with one API key. */
export class Postrider extends Resources {
  override readonly webhooks: WebhooksWithVerify;
  /** The URL of the instance. */
  readonly url: string;

  constructor(options: PostriderOptions = {}) {
    const { calls, base_url } = callsOf(options);
    super(calls);
    this.webhooks = new WebhooksWithVerify(calls);
    this.url = base_url;
  }
}

function callsOf(options: PostriderOptions): { readonly calls: Calls; readonly base_url: string } {
  if (isBrowser()) {
    throw new ConfigurationError({
      reason: 'browser',
      message:
        'An API key in a browser can be read by everyone who opens the page. Call Postrider from your server, and let the page call your server.',
    });
  }
  const environment = readEnvironment();
  const base_url = baseUrl(options.url ?? environment.url ?? DEFAULT_URL);
  const calls = createCalls({
    base_url,
    key: usableKey(options.key ?? environment.key),
    timeout_ms: options.timeout_ms ?? TIMEOUT_MS,
    max_retries: options.max_retries ?? MAX_RETRIES,
    // Some runtimes throw if fetch is called as a method.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    user_agent: `postrider-sdk/${SDK_VERSION}`,
  });
  return { calls, base_url };
}

function baseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigurationError({
      reason: 'invalid_url',
      message: `The address is not one of http or https, such as ${DEFAULT_URL}.`,
    });
  }
  const { username, password, origin, pathname } = new URL(text);
  if (username !== '' || password !== '') {
    throw new ConfigurationError({
      reason: 'invalid_url',
      message: 'The address holds a name or a password, which errors would show; leave it out.',
    });
  }
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
}

/**
 * Returns a usable key. The key is checked here, because the error that fetch throws prints an invalid header,
 * including the key.
 */
function usableKey(key: string | undefined): string {
  if (!key) {
    throw new ConfigurationError({
      reason: 'missing_key',
      message: 'There is no API key: set POSTRIDER_API_KEY, or give new Postrider({ key }).',
    });
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ConfigurationError({
    reason: 'malformed_key',
    message: 'The API key holds characters that no key has, such as a space, a line break or an ellipsis.',
  });
}
