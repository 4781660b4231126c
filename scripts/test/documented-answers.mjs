// Holds answers of the service against its API document: a status, and a form of the body, that the document has for the operation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const COMMITTED = join(import.meta.dirname, '../../openapi.json');

let committed;

/** By the document of the checkout, which CI compares with what is served: once for each worker, since to compile it takes a while. */
export const committedAnswers = () => (committed ??= answerCheck(JSON.parse(readFileSync(COMMITTED, 'utf8'))));

/**
 * @param {object} document OpenAPI 3.1
 * @returns {(answer: { method: string, path: string, status: number, type: string | undefined, body: unknown }) =>
 *   { operation: string | undefined, wrong: string | undefined }} what the document does not say of an answer. Members that it does not
 *   name are wrong, too: nobody could find them
 */
export function answerCheck({ paths, components }) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'api', components: { schemas: closed(components.schemas) } });
  const templates = Object.keys(paths).map((path) => ({ path, form: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
    // Of several that fit it is the one with the fewest parameters, as the server has it.
    .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length);
  const validators = new Map();

  function validatorOf(schema) {
    // Most operations share their forms: each is compiled once.
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const known = validators.get(text) ?? ajv.compile(JSON.parse(text));
    validators.set(text, known);
    return known;
  }

  function faultOf({ operationId, responses }, { status, type, body }) {
    const called = `${operationId} answered ${status}`;
    const response = responses[status];
    const schema = (response?.content?.[type] ?? responses.default?.content?.[type])?.schema;
    // Node's own parser refuses headers that are too long, before there is an operation.
    if (status === 431) return undefined;
    if (response === undefined && schema === undefined) return called;
    if (schema === undefined) return type === undefined && response.content === undefined ? undefined : `${called} as ${type}`;
    const validate = validatorOf(schema);
    if (!validate(body)) {
      const errors = validate.errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
      return `${called}: ${errors.join('; ')}\n${JSON.stringify(body)}`;
    }
    const names = response?.content === undefined ? undefined : response.description;
    const isNamed = type !== 'application/problem+json' || (names?.includes(`\`${body.code}\``) ?? true);
    return isNamed ? undefined : `${called} ${body.code}`;
  }

  return (answer) => {
    const path = answer.path.split('?')[0];
    const operation = paths[templates.find(({ form }) => form.test(path))?.path]?.[answer.method.toLowerCase()];
    return { operation: operation?.operationId, wrong: operation && faultOf(operation, answer) };
  };
}

/** Objects whose members are named have these alone. */
function closed(value) {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  const isOpen = copy.type !== 'object' || !('properties' in copy) || 'additionalProperties' in copy;
  return isOpen ? copy : { ...copy, additionalProperties: false };
}
