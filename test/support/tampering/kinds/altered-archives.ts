import type pg from 'pg';
import { DirectoryArchive } from '../../../../src/modules/audit/retention/archives/directory-archive.js';
import { verifyArchives } from '../../../../src/modules/audit/retention/archives/verify-archives.js';
import { AlteredArchive, ALTERINGS, type Altering } from './archives.js';
import { namesIn } from '../../retention/archive-objects.js';
import { Random } from '../random.js';

const ATTEMPTS = 50;

/** Alters archives of sweeps, each time another one, and holds each against the log; first of all as they are. */
export async function alteredArchives(
  client: pg.Client, folder: string, seed: number, count: number,
): Promise<{ checked: number; missed?: string }> {
  const run = async (sql: string, parameters: readonly unknown[]) => (await client.query<object>(sql, [...parameters])).rows;
  const archive = new DirectoryArchive(folder);
  const whole = await verifyArchives(run, archive);
  if (whole.archives === 0 || whole.breaks.length > 0) return { checked: 0,
    missed: `archives as they are: ${JSON.stringify(whole).slice(0, 600)}` };
  const names = await namesIn(folder);
  let checked = 0;
  for (let index = 0; index < count; index++) {
    const altering = ALTERINGS[index % ALTERINGS.length]!;
    const random = new Random(`${seed} archive ${index}`);
    // The large ones take long, and are of the same kind.
    const sized = await Promise.all(names.filter((one) => altering.object.isOf(one)).map(async (name) => ({ name,
      lines: await linesOf(archive, name) })));
    const small = sized.sort((a, b) => a.lines.length - b.lines.length).slice(0, 4);
    const done = alteredOnce(small, altering, random);
    if (!done) continue;
    const { name, altered } = done;
    const { breaks } = await verifyArchives(run, new AlteredArchive(archive, name, altered));
    checked++;
    if (!breaks.some(({ kind }) => kind === 'archive_altered' || kind === 'unauthorised_erasure')) {
      return { checked, missed: `${JSON.stringify({ seed, index, altering: altering.name, name })}: nothing was found` };
    }
  }
  return { checked };
}

/** Not every line has what is to be altered, and not every object two lines. */
function alteredOnce(
  objects: readonly { readonly name: string; readonly lines: readonly string[] }[], { tamper }: Altering, random: Random,
): { name: string; altered: readonly string[] } | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { name, lines } = random.of(objects);
    const altered = tamper(lines, random);
    if (altered && altered.join('\n') !== lines.join('\n')) return { name, altered };
  }
  return undefined;
}

async function linesOf(archive: DirectoryArchive, name: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of archive.read(name)) lines.push(line);
  return lines;
}
