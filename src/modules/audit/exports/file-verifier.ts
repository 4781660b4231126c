import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Verifier from '../../../../verifier/verify.mjs';
import { checkoutRoot } from '../../../platform/config/checkout-root.js';

type FileVerifier = typeof Verifier;

/** The stand-alone verifier of files, as it lies in the checkout: the very text that an auditor reads and runs. */
export function fileVerifier(): Promise<FileVerifier> {
  return import(pathToFileURL(join(checkoutRoot(), 'verifier', 'verify.mjs')).href) as Promise<FileVerifier>;
}
