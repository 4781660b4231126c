import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { ASSET_TYPES, serveAssets } from '../pages/assets.js';
import { apiPage } from './api-page.js';
import { DOCS_SCRIPT } from './docs-script.js';
import { DOCS_STYLE } from './docs-style.js';
import { errorsPage } from './errors-page.js';

const { html, css, script, json } = ASSET_TYPES;

/**
 * The documentation: pages, their assets and the OpenAPI document, all from this server, so that they also work where
 * there is no internet. Public, and before the guard, since they say nothing that depends on who asks.
 *
 * @param openApi called once, when the document is first asked for: building it takes longer than a start should
 */
export function serveDocs(openApi: () => object): RequestHandler {
  return serveAssets(new Map([
    ['/docs', { type: html, load: apiPage }],
    ['/docs/errors', { type: html, load: errorsPage }],
    ['/docs/assets/docs.css', { type: css, load: () => DOCS_STYLE, keep: true }],
    ['/docs/assets/docs.js', { type: script, load: () => DOCS_SCRIPT, keep: true }],
    ['/docs/assets/swagger-ui.css', { type: css, load: () => swaggerUi('swagger-ui.css'), keep: true }],
    ['/docs/assets/swagger-ui-bundle.js', { type: script, load: () => swaggerUi('swagger-ui-bundle.js'), keep: true }],
    ['/openapi.json', { type: json, load: () => JSON.stringify(openApi()) }],
  ]));
}

/** Swagger UI's files come with @nestjs/swagger, so they are looked for from there. */
function swaggerUi(file: string): Promise<Buffer> {
  const fromSwagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  return readFile(join(dirname(fromSwagger.resolve('swagger-ui-dist/package.json')), file));
}
