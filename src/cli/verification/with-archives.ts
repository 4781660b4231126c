import { Findings } from '../../domain/audit/integrity/findings.js';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { loadConfig } from '../../platform/config/config.js';

/** What archives add to the members of a verification. */
export interface ArchivesMember {
  readonly archives: { readonly checked: number; readonly entries: number; readonly breaks: number };
}

/** A verification with that of the archives, where the environment names their folder: what was swept is part of the log. */
export async function withArchives(found: Verification, databaseUrl: string, env: NodeJS.ProcessEnv): Promise<Verification> {
  // That a server would not start with the rest of the environment is nothing to a verification.
  const { auditArchive } = loadConfig(env['AUDIT_ARCHIVE'] === undefined ? {} : { AUDIT_ARCHIVE: env['AUDIT_ARCHIVE'] });
  if (auditArchive === undefined) return found;
  // Loaded where there is a folder: they take a connection of the server's kind with them.
  const [{ archiveOf }, { verifyArchivesOf }] = await Promise.all([
    import('../../modules/audit/retention/archives/directory-archive.js'),
    import('../../modules/audit/retention/archives/verify-archives.js'),
  ]);
  const begun = performance.now();
  const { archives: checked, entries, breaks } = await verifyArchivesOf(databaseUrl, archiveOf({ auditArchive }));
  const findings = breaks.map(({ organizationId, sweepId, detail, ...one }) =>
    ({ ...one, detail: `in the archive ${organizationId}/${sweepId}, ${detail}` }));
  const all = new Findings();
  all.add(found.breaks, found.breaksFound);
  all.add(findings);
  const members: ArchivesMember = { archives: { checked, entries, breaks: breaks.length } };
  return {
    ...found,
    ...(breaks.length === 0 ? {} : { valid: false, verdict: 'tampered' as const }),
    breaks: all.listed,
    breaksFound: all.found,
    durationMs: found.durationMs + Math.round(performance.now() - begun),
    members: { ...found.members, ...members },
  };
}
