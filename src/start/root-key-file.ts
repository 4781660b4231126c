import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { StartRefused } from '../platform/config/start-refused.js';

/** A file for the root key, found writable before a key is made, since the key is shown only once. */
export class RootKeyFile {
  private constructor(private readonly path: string, private readonly aside: string, private readonly descriptor: number) {}

  static open(path: string): RootKeyFile {
    const aside = `${path}.${process.pid}`;
    try {
      return new RootKeyFile(path, aside, openSync(aside, 'wx', 0o600));
    } catch (error) {
      throw new StartRefused(`ROOT_KEY_FILE: ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
  }

  write(key: string): void {
    writeSync(this.descriptor, `${key}\n`);
    fsyncSync(this.descriptor);
    renameSync(this.aside, this.path);
  }

  /** Without a key written, nothing is left behind and an older file stays as it is. */
  close(): void {
    closeSync(this.descriptor);
    rmSync(this.aside, { force: true });
  }
}
