import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Client, Reply } from '../http/actors.js';

type Json = Record<string, unknown>;

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>>;
  readonly operationId: string;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** Holds answers against a document: each must have a status, and be of a form, that the document has for its operation. */
export interface AnswerCheck {
  /** The same client, whose answers are looked at. */
  of(client: Client): Client;
  /** Ids of the operations that were called, each once with every status. */
  readonly called: ReadonlySet<string>;
  /** What the document does not say. */
  readonly wrong: readonly string[];
}

/** Members that the document does not name are wrong, too: nobody could find them. */
export function answersBy(document: ApiDocument): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'api', components: { schemas: closed(document.components.schemas) } });
  const called = new Set<string>();
  const wrong: string[] = [];
  const validators = new Map<string, ValidateFunction>();

  function look(method: string, path: string, reply: Reply): void {
    const template = templateOf(document, path.split('?')[0]!);
    const operation = template === undefined ? undefined : document.paths[template]![method];
    if (operation === undefined) return void wrong.push(`${method} ${path} is in no document`);
    called.add(`${operation.operationId} ${reply.status}`);
    const response = operation.responses[reply.status];
    if (response === undefined) return void wrong.push(`${operation.operationId} answered ${reply.status}`);
    const type = reply.headers.get('content-type')?.split(';')[0];
    const schema = type === undefined ? undefined : response.content?.[type]?.schema;
    if (schema === undefined) {
      if (type !== undefined || response.content !== undefined) wrong.push(`${operation.operationId} ${reply.status} answered ${type}`);
      return;
    }
    const key = `${operation.operationId} ${reply.status} ${type}`;
    const validate = validators.get(key) ?? ajv.compile(absolute(schema));
    validators.set(key, validate);
    if (validate(reply.body)) return;
    const errors = validate.errors!.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
    wrong.push(`${key}: ${errors.join('; ')}\n${JSON.stringify(reply.body)}`);
  }

  const of = (client: Client): Client => {
    const looked = async <T>(method: string, path: string, reply: Promise<Reply<T>>): Promise<Reply<T>> => {
      look(method, path, await reply);
      return reply;
    };
    return {
      get: (path, options) => looked('get', path, client.get(path, options)),
      delete: (path, body, options) => looked('delete', path, client.delete(path, body, options)),
      post: (path, body, options) => looked('post', path, client.post(path, body, options)),
      put: (path, body, options) => looked('put', path, client.put(path, body, options)),
      patch: (path, body, options) => looked('patch', path, client.patch(path, body, options)),
      with: (headers) => of(client.with(headers)),
    };
  };
  return { of, called, wrong };
}

/** The path of the document that a call's path fits; of several the one with the fewest parameters, as the server has it. */
function templateOf({ paths }: ApiDocument, path: string): string | undefined {
  const fits = Object.keys(paths).filter((template) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path));
  return fits.toSorted((one, other) => one.split('{').length - other.split('{').length)[0];
}

/** Objects whose members are named have these alone. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  return copy['type'] === 'object' && 'properties' in copy && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

function absolute(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as Json;
}
