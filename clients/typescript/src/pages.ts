import type { Http, Parts, RequestOptions, Result, Route } from './http.ts';

/**
 * A list, in one or more pages. Await it for the first page, or iterate over all items with `for await`: it requests
 * pages as it goes.
 */
export class Pages<Item, Page extends { nextCursor?: string | null }>
  implements PromiseLike<Page>, AsyncIterable<Item>
{
  readonly #load: (cursor: string | undefined) => Promise<Page>;
  readonly #itemsOf: (page: Page) => Item[];
  readonly #start: string | undefined;

  constructor(
    load: (cursor: string | undefined) => Promise<Page>,
    itemsOf: (page: Page) => Item[],
    start: string | undefined,
  ) {
    this.#load = load;
    this.#itemsOf = itemsOf;
    this.#start = start;
  }

  then<Fulfilled = Page, Rejected = never>(
    onFulfilled?: ((page: Page) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#load(this.#start).then(onFulfilled, onRejected);
  }

  /** Yields page after page. */
  async *pages(): AsyncGenerator<Page> {
    let cursor = this.#start;
    for (;;) {
      const page = await this.#load(cursor);
      yield page;
      if (typeof page.nextCursor !== 'string') return;
      cursor = page.nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* this.#itemsOf(page);
  }

  /** Returns the first items, in one array. @param limit how many at most. */
  async toArray({ limit }: { limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}

type PageOf<R extends Route> = Result<R> & { nextCursor?: string | null };

/** Returns a list. A result without `nextCursor` is the only page. */
export function list<R extends Route, Item>(
  http: Http,
  route: R,
  { query = {}, ...parts }: Parts,
  itemsOf: (page: Result<R>) => Item[],
  options?: RequestOptions,
): Pages<Item, PageOf<R>> {
  const load = (cursor: string | undefined) =>
    http.json(route, { ...parts, query: { ...query, cursor } }, options) as Promise<PageOf<R>>;
  return new Pages(load, itemsOf, (query as { cursor?: string }).cursor);
}
