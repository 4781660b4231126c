import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { ASSET_TYPES, serveAssets } from '../../../platform/http/pages/assets.js';
import { SIGN_IN_SCRIPT } from './sign-in-script.js';
import { SIGN_IN_STYLE } from './sign-in-style.js';

const { css, script } = ASSET_TYPES;

/** What the pages load: all of it from this server. */
export function signInAssets(): RequestHandler {
  return serveAssets(new Map([
    ['/sign-in/assets/sign-in.css', { type: css, load: () => SIGN_IN_STYLE, keep: true }],
    ['/sign-in/assets/sign-in.js', { type: script, load: () => SIGN_IN_SCRIPT, keep: true }],
    ['/sign-in/assets/webauthn.js', { type: script, load: webAuthn, keep: true }],
  ]));
}

/** The browser's half of the library, which turns WebAuthn's buffers into JSON. */
function webAuthn(): Promise<Buffer> {
  const main = createRequire(import.meta.url).resolve('@simplewebauthn/browser');
  return readFile(join(dirname(main), '..', 'dist', 'bundle', 'index.umd.min.js'));
}
