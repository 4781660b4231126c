import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from './checkout-root.js';

let version: string | undefined;

/** Of this build, as package.json has it. */
export function serverVersion(): string {
  version ??= (JSON.parse(readFileSync(join(checkoutRoot(), 'package.json'), 'utf8')) as { version: string }).version;
  return version;
}
