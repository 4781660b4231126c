import type { IncomingMessage } from 'node:http';
import { formBody } from './body-reader.js';
import { Problem } from '../reply/problem.js';

/**
 * The fields of a browser's form, by name, for routes that are declared by `@FormRoute()`.
 *
 * @throws Problem VALIDATION_FAILED for a field that was sent twice, 413 or 415
 */
export function formFields(request: IncomingMessage): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of formBody(request)) {
    if (name in fields) throw new Problem('VALIDATION_FAILED', 'The form cannot be read: a field was sent twice.');
    fields[name] = value;
  }
  return fields;
}
