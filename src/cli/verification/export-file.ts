import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Longer than the last line of any export. */
const TAIL = 64 * 1024;
const ENDS = /"kind":"manifest"[^\n]*\n(\]\}\n)?$|(^|\n)#manifest [\w-]+\r\n$/;

/**
 * Writes an export under another name and gives it its own once it is whole: a file of that name is never half of one. Compressed
 * when the name ends in `.gz`.
 *
 * @throws Error where it could not be written, or ends before its manifest
 */
export async function writeExport(
  path: string, texts: AsyncIterable<string>, onText: (text: string) => void, signal: AbortSignal,
): Promise<void> {
  const part = `${path}.part-${process.pid}`;
  let tail = '';
  const seen = async function* () {
    for await (const text of texts) {
      tail = (tail + text).slice(-TAIL);
      onText(text);
      yield text;
    }
  };
  const file = createWriteStream(part, { flags: 'wx', mode: 0o600 });
  try {
    if (path.endsWith('.gz')) await pipeline(seen, createGzip(), file, { signal });
    else await pipeline(seen, file, { signal });
    if (!ENDS.test(tail)) throw new Error('the export ended before it was whole; nothing was written');
    const written = await open(part, 'r+');
    await written.sync().finally(() => written.close());
    await rename(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(part, { force: true });
    throw error;
  }
}

const WIDTH = 30;
const SECTION = /"kind":"section".*"size":(\d+)\},?$/;

/** How far an export has come, by its own lines: a section says how many leaves its tree has. */
export class ExportProgress {
  private section = 0;
  private lines = 0;
  private inSection = 0;
  /** What has come of a line whose end has not. */
  private begun = '';

  /** A line for whoever watches. */
  after(text: string): string {
    const lines = (this.begun + text).split('\n');
    const begun = lines.pop()!;
    // No section's line is as long.
    this.begun = begun.length <= TAIL ? begun : '';
    for (const line of lines) this.take(line);
    return this.shown();
  }

  private take(line: string): void {
    this.lines++;
    const size = SECTION.exec(line)?.[1];
    this.inSection = size === undefined ? this.inSection + 1 : 0;
    if (size !== undefined) this.section = Number(size);
  }

  private shown(): string {
    const lines = `${this.lines.toLocaleString('en')} lines`;
    if (this.section === 0) return lines;
    const share = Math.min(1, this.inSection / this.section);
    const filled = Math.round(share * WIDTH);
    return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %  ${lines}`;
  }
}
