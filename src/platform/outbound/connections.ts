import type { LookupFunction } from 'node:net';
import { buildConnector, DecoratorHandler, Pool, type Dispatcher } from 'undici';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Connections to one origin at addresses that were checked. */
export interface Borrowed {
  readonly dispatcher: Dispatcher;
  giveBack(): void;
}

/**
 * How long an idle connection is kept: below what receivers keep theirs (2 s and more), as one that ends under a request leaves its outcome
 * unknown.
 */
const KEEP_MS = 1_000;
/** Against a receiver that never takes a connection; the caller's own time ends the wait for it before. */
const CONNECT_MS = 30_000;

/**
 * Connections that the next call may use. They are shared by calls that name the same keeper, the same origin and the same checked
 * addresses: a name that leads elsewhere afterwards gets new ones.
 */
export class Connections {
  private readonly kept = new Map<string, KeptPool>();

  /** @param keeper whose calls share them; undefined for a connection that serves one request */
  borrow(origin: string, addresses: readonly ResolvedAddress[], keeper: string | undefined): Borrowed {
    if (keeper === undefined) {
      const dispatcher = poolOf(origin, addresses, { connections: 1, pipelining: 0 });
      return { dispatcher, giveBack: () => void dispatcher.destroy().catch(() => undefined) };
    }
    const key = JSON.stringify([keeper, origin, addresses.map(({ address }) => address).sort()]);
    let pool = this.kept.get(key);
    if (!pool) this.kept.set(key, pool = new KeptPool(poolOf(origin, addresses, KEPT), () => this.kept.delete(key)));
    return pool.borrow();
  }
}

const KEPT: Pool.Options = { pipelining: 1, keepAliveTimeout: KEEP_MS, keepAliveMaxTimeout: KEEP_MS };

function poolOf(origin: string, addresses: readonly ResolvedAddress[], options: Pool.Options): Pool {
  return new Pool(origin, {
    ...options, connect: buildConnector({ lookup: pinnedTo(addresses), timeout: CONNECT_MS, maxCachedSessions: 0 }),
  });
}

/** Goes when nobody has used it for as long as its connections are kept. */
class KeptPool {
  private borrowers = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pool: Pool, forget: () => void) {
    this.timer = setTimeout(() => {
      if (this.borrowers > 0) return;
      forget();
      void pool.destroy().catch(() => undefined);
    }, KEEP_MS);
    this.timer.unref();
  }

  borrow(): Borrowed {
    this.borrowers++;
    return {
      dispatcher: this.pool,
      giveBack: () => {
        this.borrowers--;
        this.timer.refresh();
      },
    };
  }
}

/** Tells when a request is about to be written, until when nothing of it can have been sent; `begin` may refuse that. */
export function watched(dispatcher: Dispatcher, begin: () => boolean): Pick<Dispatcher, 'dispatch'> {
  return { dispatch: (request, handler) => dispatcher.dispatch(request, new Watch(handler, begin)) };
}

/** undici's own types know nothing of its members. */
const Decorator = DecoratorHandler as unknown as new (handler: Dispatcher.DispatchHandler) => {
  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void;
  onResponseStart(...start: ResponseStart): void;
};
type ResponseStart = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>;

class Watch extends Decorator {
  constructor(handler: Dispatcher.DispatchHandler, private readonly begin: () => boolean) {
    super(handler);
  }

  override onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    if (this.begin()) super.onRequestStart(controller, context);
    else controller.abort(new Error('too late'));
  }

  /** Once, as the base class has it: what comes before the answer (100 to 199, RFC 9110, section 15.2) says nothing of its outcome. */
  override onResponseStart(...[controller, status, ...rest]: ResponseStart): void {
    if (status >= 200) super.onResponseStart(controller, status, ...rest);
  }
}

/** Answers every look-up with the addresses that were checked. */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, done) => {
    if (options.all) done(null, addresses.map(({ address, family }) => ({ address, family })));
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };
}
