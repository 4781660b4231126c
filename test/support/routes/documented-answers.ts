import type { Client, Reply } from '../http/actors.js';
import { holdAgainstDocument } from '../http/held-answer.js';

/** Tells which operations clients call, each with every status that it answered. That answers are as documented every client sees to. */
export interface CalledOperations {
  /** The same client, whose calls are noted. */
  of(client: Client): Client;
  /** Such as `agents.register 201`. */
  readonly called: ReadonlySet<string>;
}

export function calledOperations(): CalledOperations {
  const called = new Set<string>();
  const of = (client: Client): Client => {
    const noted = async <T>(method: string, path: string, coming: Promise<Reply<T>>): Promise<Reply<T>> => {
      const reply = await coming;
      called.add(`${holdAgainstDocument(method, path, reply).operation ?? path} ${reply.status}`);
      return reply;
    };
    return {
      get: (path, options) => noted('get', path, client.get(path, options)),
      delete: (path, body, options) => noted('delete', path, client.delete(path, body, options)),
      post: (path, body, options) => noted('post', path, client.post(path, body, options)),
      put: (path, body, options) => noted('put', path, client.put(path, body, options)),
      patch: (path, body, options) => noted('patch', path, client.patch(path, body, options)),
      with: (headers) => of(client.with(headers)),
    };
  };
  return { of, called };
}
