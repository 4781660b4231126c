import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, GivenCall, OperationName, QueryOf, ReplyOf } from '../operation.js';
import type { Operations } from '../wire.js';

/** May be left out where the operation does without it. */
type BodyAnd<O extends OperationName> = undefined extends Operations[O]['data']['body']
  ? [body?: BodyOf<O>, options?: CallOptions] : [body: BodyOf<O>, options?: CallOptions];

/** Operations by name. What each takes, besides ids in the order of its path, and answers is what the API document says. */
export abstract class Client {
  constructor(readonly connection: Connection) {}

  protected plain<O extends OperationName>(operation: O) {
    return (options?: CallOptions) => this.#call(operation, [], {}, options);
  }

  protected byQuery<O extends OperationName>(operation: O) {
    return (query?: QueryOf<O>, options?: CallOptions) => this.#call(operation, [], { query }, options);
  }

  protected byBody<O extends OperationName>(operation: O) {
    return (...[body, options]: BodyAnd<O>) => this.#call(operation, [], { body }, options);
  }

  protected byId<O extends OperationName>(operation: O) {
    return (id: string, options?: CallOptions) => this.#call(operation, [id], {}, options);
  }

  protected byIds<O extends OperationName>(operation: O) {
    return (id: string, innerId: string, options?: CallOptions) => this.#call(operation, [id, innerId], {}, options);
  }

  protected byIdAndQuery<O extends OperationName>(operation: O) {
    return (id: string, query?: QueryOf<O>, options?: CallOptions) => this.#call(operation, [id], { query }, options);
  }

  protected byIdAndBody<O extends OperationName>(operation: O) {
    return (id: string, ...[body, options]: BodyAnd<O>) => this.#call(operation, [id], { body }, options);
  }

  async #call<O extends OperationName>(
    operation: O, ids: readonly string[], parts: Pick<GivenCall, 'query' | 'body'>, options?: CallOptions,
  ): Promise<ReplyOf<O>> {
    const names = Array.from(operation.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    const path = Object.fromEntries(names.map((name, at) => [name, ids[at]]));
    return (await this.connection.send(operation, { ...options, path, ...parts })).body as ReplyOf<O>;
  }
}
