import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * The agent's token as it was last renewed, in a file for its owner alone: a setup token is good once, and a node that starts again needs
 * what it was exchanged for.
 */
export class KeptToken {
  private constructor(private readonly path: string, private readonly setup: string) {}

  /** @param setupToken of which only a digest is kept, so that another one is exchanged anew; '' for whichever there was */
  static async of(path: string, setupToken: string): Promise<KeptToken> {
    if (setupToken === '') return new KeptToken(path, contentOf(path)?.setup ?? '');
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(setupToken));
    return new KeptToken(path, Buffer.from(digest).toString('hex'));
  }

  /** What this setup token was exchanged for; undefined where it was not, or where that is lost. */
  read(): string | undefined {
    const kept = contentOf(this.path);
    return kept?.setup === this.setup && kept.token !== '' ? kept.token : undefined;
  }

  /** Replaces the file as a whole, so that a crash leaves the old token or the new one. */
  write(token: string): void {
    const next = `${this.path}.next`;
    rmSync(next, { force: true });
    writeFileSync(next, JSON.stringify({ setup: this.setup, token }), { flag: 'wx', mode: 0o600, flush: true });
    renameSync(next, this.path);
  }
}

function contentOf(path: string): { readonly setup: string; readonly token: string } | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { setup: string; token: string };
  } catch {
    return undefined;
  }
}
