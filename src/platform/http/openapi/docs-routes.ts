import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import type { JsonObject } from '../../../domain/json.js';
import { type Asset, ASSET_TYPES, serveAssets } from '../pages/assets.js';
import { apiPage } from './api-page.js';
import { DOCS_SCRIPT } from './docs-script.js';
import { DOCS_STYLE } from './docs-style.js';
import { errorsPage } from './errors-page.js';
import { guidePage } from './guides/guide-pages.js';
import { GLOSSARY_PATH, HOW_TO_NAMES, HOW_TO_PATH, readGuides } from './guides/guides.js';
import { findEntries, searchEntriesOf } from './guides/search.js';
import { searchPage } from './guides/search-page.js';
import { SEARCH_SCRIPT } from './guides/search-script.js';

const { html, css, script, json } = ASSET_TYPES;
const SEARCH_PATH = '/docs/search';
const QUERY_MAX = 100;

/**
 * The documentation: pages, their assets and the OpenAPI document, all from this server, so that they also work where
 * there is no internet. Public, and before the guard, since they say nothing that depends on who asks.
 *
 * @param openApi called once, when the document is first asked for: building it takes longer than a start should
 */
export function serveDocs(openApi: () => object): RequestHandler {
  const [guides, document] = [once(readGuides), once(() => Promise.resolve(openApi()))];
  const assets = serveAssets(new Map([
    ['/docs', { type: html, load: async () => apiPage(await guides()) }],
    ['/docs/errors', { type: html, load: errorsPage }],
    [HOW_TO_PATH, { type: html, load: async () => guidePage((await guides()).index, await guides()) }],
    [GLOSSARY_PATH, { type: html, load: async () => guidePage((await guides()).glossary, await guides()) }],
    ...HOW_TO_NAMES.map((name, at): [string, Asset] => [
      `${HOW_TO_PATH}/${name}`, { type: html, load: async () => guidePage((await guides()).howTo[at]!, await guides()) },
    ]),
    ['/docs/assets/search.js', { type: script, load: () => SEARCH_SCRIPT, keep: true }],
    ['/docs/assets/docs.css', { type: css, load: () => DOCS_STYLE, keep: true }],
    ['/docs/assets/docs.js', { type: script, load: () => DOCS_SCRIPT, keep: true }],
    ['/docs/assets/swagger-ui.css', { type: css, load: () => swaggerUi('swagger-ui.css'), keep: true }],
    ['/docs/assets/swagger-ui-bundle.js', { type: script, load: () => swaggerUi('swagger-ui-bundle.js'), keep: true }],
    ['/openapi.json', { type: json, load: async () => JSON.stringify(await document()) }],
  ]));
  const entries = once(async () => searchEntriesOf((await document()) as JsonObject, await guides()));
  return (request, response, next) => {
    if (request.path !== SEARCH_PATH || request.method !== 'GET') return assets(request, response, next);
    const query = (new URL(request.originalUrl, 'http://docs').searchParams.get('q') ?? '').slice(0, QUERY_MAX);
    entries().then((all) => response.type(html).send(searchPage(query, findEntries(all, query)))).catch(next);
  };
}

/** What takes a moment is made when it is first asked for; where that fails, the next call tries again. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Swagger UI's files come with @nestjs/swagger, so they are looked for from there. */
function swaggerUi(file: string): Promise<Buffer> {
  const fromSwagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  return readFile(join(dirname(fromSwagger.resolve('swagger-ui-dist/package.json')), file));
}
