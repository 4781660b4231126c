import type { LineOf } from '../export-lines.js';

/** What a verdict on a file is about: all of the log, all that some organizations have of it, a part, or an archive without its values. */
export type Covers = 'log' | 'organizations' | 'part' | 'person' | 'archive';

/** What the verification of a file says of the file. */
export type FileMember = {
  readonly covers: Covers;
  readonly file: {
    readonly organizations: string[];
    readonly agentId: string | null;
    readonly from: string | null;
    readonly to: string | null;
    readonly userId: string | null;
    /** Whether its end is missing: then it is less than what its first line says. */
    readonly cutOff: boolean;
  };
};

/** By its first line, to which its other lines are held. */
export function coveredBy(header: LineOf<'export'>, cutOff: boolean): FileMember {
  const { organizations, agentId = null, from = null, to = null, userId = null } = header;
  return { covers: coversOf(header), file: { organizations: [...organizations], agentId, from, to, userId, cutOff } };
}

function coversOf({ what, all, agentId, from, to }: LineOf<'export'>): Covers {
  if (what !== 'log') return what;
  if ([agentId, from, to].some((limit) => (limit ?? null) !== null)) return 'part';
  return all ? 'log' : 'organizations';
}
