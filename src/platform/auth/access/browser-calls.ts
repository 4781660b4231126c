import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { CONFIG, type CompleteConfig } from '../../config/config.js';
import { Problem } from '../../http/reply/problem.js';
import { refusalOf } from './same-site.js';

/** What a route is, as far as a browser's call to it is judged. */
export interface CheckedRoute {
  readonly changes?: boolean | undefined;
  readonly takesForm?: boolean | undefined;
}

/** Calls that a browser sends a cookie along with, or that give it one: they must come from a page of ours. */
@Injectable()
export class BrowserCalls {
  private readonly allowed: ReadonlySet<string>;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl' | 'corsOrigins'>) {
    this.allowed = new Set([new URL(config.appUrl).origin, ...config.corsOrigins]);
  }

  /** @throws Problem FORBIDDEN */
  assertSameSite(request: Request, { changes, takesForm }: CheckedRoute): void {
    const { origin, 'sec-fetch-site': fetchSite, 'content-type': contentType, 'content-length': length } = request.headers;
    const refusal = refusalOf(
      {
        method: request.method, changes, origin, contentType, takesForm,
        fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
        hasBody: (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined,
      },
      this.allowed,
    );
    if (refusal !== undefined) throw new Problem('FORBIDDEN', `A browser changes nothing here: ${refusal}.`);
  }
}
