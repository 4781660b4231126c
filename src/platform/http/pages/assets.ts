import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

const compressed = promisify(gzip);

/** A file of ours that browsers load. */
export interface Asset {
  readonly type: string;
  /** Called once, when it is first asked for. */
  readonly load: () => Promise<string | Buffer> | string;
  /** Whether browsers may keep it for an hour; otherwise they ask each time. */
  readonly keep?: boolean;
}

interface LoadedAsset {
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

export const ASSET_TYPES = {
  html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', script: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
} as const;

const CACHE_SECONDS = 3_600;

/**
 * Serves files from memory, by path. For what says nothing that depends on who asks: it stands before the guard, or beside it.
 */
export function serveAssets(assets: ReadonlyMap<string, Asset>): RequestHandler {
  const loaded = new Map<string, Promise<LoadedAsset>>();
  return (request, response, next) => {
    const asked = `${request.baseUrl}${request.path}`;
    const path = asked.length > 1 && asked.endsWith('/') ? asked.slice(0, -1) : asked;
    const asset = assets.get(path);
    if (asset === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const loading = loaded.get(path) ?? load(asset);
    loaded.set(path, loading);
    loading.then(
      (content) => send(request, response, asset, content),
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

function send(request: Request, response: Response, { type, keep = false }: Asset, content: LoadedAsset): void {
  const zip = request.acceptsEncodings('gzip') !== false;
  const body = zip ? content.gzip : content.plain;
  response.statusCode = 200;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', body.length);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', keep ? `public, max-age=${CACHE_SECONDS}` : 'no-cache');
  if (zip) response.setHeader('Content-Encoding', 'gzip');
  response.end(body);
}
