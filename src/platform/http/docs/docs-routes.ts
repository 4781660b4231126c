import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import { apiPage } from './api-page.js';
import { DOCS_SCRIPT } from './docs-script.js';
import { DOCS_STYLE } from './docs-style.js';
import { errorsPage } from './errors-page.js';

const compressed = promisify(gzip);

interface Asset {
  type: string;
  load: () => Promise<string | Buffer> | string;
}

interface LoadedAsset {
  plain: Buffer;
  gzip: Buffer;
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const CACHE_SECONDS = 3_600;

/**
 * The documentation: pages, their assets and the OpenAPI document, all from this server, so that they also work where
 * there is no internet. Public, and before the guard, since they say nothing that depends on who asks.
 *
 * @param openApi called once, when the document is first asked for: building it takes longer than a start should
 */
export function serveDocs(openApi: () => object): RequestHandler {
  const assets = new Map<string, Asset>([
    ['/docs', { type: HTML, load: apiPage }],
    ['/docs/errors', { type: HTML, load: errorsPage }],
    ['/docs/assets/docs.css', { type: CSS, load: () => DOCS_STYLE }],
    ['/docs/assets/docs.js', { type: SCRIPT, load: () => DOCS_SCRIPT }],
    ['/docs/assets/swagger-ui.css', { type: CSS, load: () => swaggerUi('swagger-ui.css') }],
    ['/docs/assets/swagger-ui-bundle.js', { type: SCRIPT, load: () => swaggerUi('swagger-ui-bundle.js') }],
    ['/openapi.json', { type: 'application/json; charset=utf-8', load: () => JSON.stringify(openApi()) }],
  ]);
  const loaded = new Map<string, Promise<LoadedAsset>>();
  return (request, response, next) => {
    const path = request.path.length > 1 && request.path.endsWith('/') ? request.path.slice(0, -1) : request.path;
    const asset = assets.get(path);
    if (asset === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const loading = loaded.get(path) ?? load(asset);
    loaded.set(path, loading);
    loading.then(
      (content) => send(request, response, { type: asset.type, keep: path.startsWith('/docs/assets/') }, content),
      (error: unknown) => {
        loaded.delete(path);
        next(error);
      },
    );
  };
}

async function load(asset: Asset): Promise<LoadedAsset> {
  const plain = Buffer.from(await asset.load());
  return { plain, gzip: await compressed(plain) };
}

/** Swagger UI's files come with @nestjs/swagger, so they are looked for from there. */
function swaggerUi(file: string): Promise<Buffer> {
  const fromSwagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  return readFile(join(dirname(fromSwagger.resolve('swagger-ui-dist/package.json')), file));
}

function send(request: Request, response: Response, kind: { type: string; keep: boolean }, content: LoadedAsset): void {
  const zip = request.acceptsEncodings('gzip') !== false;
  const body = zip ? content.gzip : content.plain;
  response.statusCode = 200;
  response.setHeader('Content-Type', kind.type);
  response.setHeader('Content-Length', body.length);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', kind.keep ? `public, max-age=${CACHE_SECONDS}` : 'no-cache');
  if (zip) response.setHeader('Content-Encoding', 'gzip');
  response.end(body);
}
