import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Injectable } from '@nestjs/common';
import type * as Verifier from '../../../../verifier/verify.mjs';
import { checkoutRoot } from '../../../platform/config/checkout-root.js';
import { Problem } from '../../../platform/http/reply/problem.js';

export interface Page {
  readonly html: string;
  /** What the page itself asks for, and that nobody shows it within another. */
  readonly policy: string;
}

/** The stand-alone verifier as the build has packed it. */
@Injectable()
export class VerifierPage {
  /** @throws Problem NOT_FOUND where there is no build of it */
  async read(): Promise<Page> {
    const html = await readFile(join(checkoutRoot(), 'dist', 'verifier.html'), 'utf8').catch(() => '');
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    if (policy === undefined) throw new Problem('NOT_FOUND', 'This installation has no packed verifier.');
    return { html, policy: `${policy}; frame-ancestors 'none'` };
  }
}

/** The stand-alone verifier of files, as it lies in the checkout: the very text that an auditor reads and runs. */
export function fileVerifier(): Promise<typeof Verifier> {
  return import(pathToFileURL(join(checkoutRoot(), 'verifier', 'verify.mjs')).href) as Promise<typeof Verifier>;
}
