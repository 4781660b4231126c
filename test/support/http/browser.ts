/** What a page answered, after the redirects that were followed. */
export interface Page {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  /** Where it was sent on the way, in this order. */
  readonly hops: readonly URL[];
}

export interface Visit {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Redirects that are followed; 0 shows the first one. Default 12. */
  readonly follow?: number;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * A browser as far as signing in needs one: it keeps cookies by host (not by port, as browsers do) and path, follows redirects by
 * hand, and sends `Origin` and `Sec-Fetch-Site` with what it posts. `SameSite=Lax` cookies stay at home where another site posts.
 */
export class Browser {
  private readonly jar = new Map<string, { value: string; path: string; host: string; lax: boolean }>();
  private at: URL | undefined;

  /** Goes there, as if a link were followed from the page that is shown, or typed where there is none. */
  async visit(target: string | URL, { method = 'GET', headers = {}, form, follow = 12 }: Visit = {}): Promise<Page> {
    let url = new URL(target, this.at);
    let body = form === undefined ? undefined : new URLSearchParams(form);
    let verb: string = body === undefined ? method : 'POST';
    const from = this.at?.origin;
    const hops: URL[] = [];
    for (;;) {
      const response = await fetch(url, {
        method: verb, redirect: 'manual', headers: { accept: 'text/html,*/*;q=0.8', ...this.sent(url, verb, from), ...headers },
        ...(body === undefined ? {} : { body }),
      });
      this.keep(url, response.headers.getSetCookie());
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null || hops.length >= follow) {
        this.at = url;
        return { status: response.status, url, headers: response.headers, text: await response.text(), hops };
      }
      await response.arrayBuffer();
      if (response.status < 307) [verb, body] = ['GET', undefined];
      url = new URL(location, url);
      hops.push(url);
    }
  }

  /** The value of a cookie that this host would be sent. */
  cookie(host: string, name: string): string | undefined {
    return this.jar.get(`${host} ${name}`)?.value;
  }

  /** Plants a cookie, as whoever has the host's pages in hand could. */
  plant(host: string, name: string, value: string): void {
    this.jar.set(`${host} ${name}`, { value, path: '/', host, lax: true });
  }

  forget(host: string, name: string): void {
    this.jar.delete(`${host} ${name}`);
  }

  private sent(url: URL, verb: string, from: string | undefined): Record<string, string> {
    const isCross = from !== undefined && new URL(from).hostname !== url.hostname;
    const cookies = [...this.jar].filter(([, { host, path, lax }]) =>
      host === url.hostname && url.pathname.startsWith(path) && !(lax && isCross && verb !== 'GET'));
    const site = from === undefined ? 'none' : from === url.origin ? 'same-origin' : isCross ? 'cross-site' : 'same-site';
    return {
      'sec-fetch-site': site,
      ...(verb === 'GET' ? {} : { origin: from ?? 'null' }),
      ...(cookies.length === 0 ? {} : { cookie: cookies.map(([key, { value }]) => `${key.split(' ')[1]!}=${value}`).join('; ') }),
    };
  }

  private keep(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const named = (name: string) => attributes.find((one) => one.toLowerCase().startsWith(name))?.slice(name.length);
      const at = pair.indexOf('=');
      const key = `${url.hostname} ${pair.slice(0, at)}`;
      const age = named('max-age=');
      const isOver = (age !== undefined && Number(age) <= 0) || Date.parse(named('expires=') ?? '') < Date.now();
      if (isOver) this.jar.delete(key);
      else this.jar.set(key, {
        value: pair.slice(at + 1), path: named('path=') ?? '/', host: url.hostname, lax: named('samesite=')?.toLowerCase() !== 'none',
      });
    }
  }
}
