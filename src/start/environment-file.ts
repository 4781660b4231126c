import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { checkoutRoot } from '../platform/config/checkout-root.js';

/** The environment over the `.env` of the checkout, if there is one: what is set outside wins. Tests read no such file. */
export function withEnvironmentFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.NODE_ENV === 'test') return env;
  try {
    return { ...parseEnv(readFileSync(join(checkoutRoot(), '.env'), 'utf8')), ...env };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return env;
    throw error;
  }
}
