/** A page of a list, newest first. */
export interface Page<T> {
  readonly object: 'list';
  readonly data: T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/**
 * A list that can be awaited or iterated: `await` returns its first page; `for await` yields every entry, and requests
 * further pages as needed.
 */
export class ListCall<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #ask: (cursor: string | null) => Promise<Page<T>>;
  #first: Promise<Page<T>> | null = null;

  constructor(ask: (cursor: string | null) => Promise<Page<T>>) {
    this.#ask = ask;
  }

  // Thenable on purpose: the request is only sent when the page is awaited.
  // biome-ignore lint/suspicious/noThenProperty: see above
  then<A = Page<T>, B = never>(
    onFulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#ask(null);
    return this.#first.then(onFulfilled, failed);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let page: Page<T> = await this.then();
    yield page;
    while (page.next_cursor !== null) {
      page = await this.#ask(page.next_cursor);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
