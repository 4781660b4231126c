import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

/**
 * The agent's token as it was last renewed, in a file for its owner alone: a setup token is good once, and a node that starts again needs
 * what it was exchanged for.
 */
export class KeptToken {
  private constructor(private readonly path: string, private readonly setup: string) {}

  /** @param setupToken of which only a digest is kept, so that another one is exchanged anew; '' for whichever there was */
  static async of(path: string, setupToken: string): Promise<KeptToken> {
    return new KeptToken(path, setupToken === '' ? (contentOf(path)?.setup ?? '') : await digestOf(setupToken));
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
    const file = openSync(next, 'wx', 0o600);
    try {
      writeSync(file, JSON.stringify({ setup: this.setup, token }));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
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

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
