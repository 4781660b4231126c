import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { logLines, type ExportSelection } from '../../../domain/audit/export/log-lines.js';
import { sealed, type ExportFormat } from '../../../domain/audit/export/sealed-export.js';
import { signingKey, verifierKey } from '../../../domain/audit/notes/note.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { commandWork, withDataSource } from '../../../platform/database/transaction/command-work.js';
import { verifierKeys } from '../checkpoints/checkpoint.query.js';
import { organizationsWithLog } from '../query/organizations.query.js';
import { sqlExportSource } from './export-source.query.js';
import { refusedSize, type EarlierTreeSizes } from './earlier-tree-sizes.js';
import { recordExport } from './record-export.js';
import { openSnapshot } from '../query/snapshots.query.js';

export interface DatabaseExport extends Omit<ExportSelection, 'organizations' | 'all'> {
  readonly databaseUrl: string;
  /** Base64 of the installation's Ed25519 seed: the file has to be signed. */
  readonly seed: string;
  readonly organizationId?: string;
  readonly format: ExportFormat;
}

/** How the command calls them. */
const OPTIONS: Record<keyof EarlierTreeSizes, string> = { since: '--since', platformSince: '--platform-since' };

/**
 * Exports the log of a database past any server. Recorded as a server records it, with the actor `system` and the origin `cli`:
 * whom the database let in is not known here.
 *
 * @param write takes the file's text as it is made
 * @throws StartRefused for another key than the installation's, where there is nothing to export, or for a size that a tree has not reached
 */
export async function exportDatabase(
  { databaseUrl, seed, organizationId, format, ...part }: DatabaseExport, write: (texts: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  const { run, close } = await openSnapshot(databaseUrl, 'countersign audit export');
  try {
    const source = await sqlExportSource(run, seed);
    const known = (await verifierKeys(run)).map(({ key }) => key);
    if (known.length > 0 && !known.includes(verifierKey(source.instance, seed))) {
      throw new StartRefused('AUDIT_SIGNING_KEY is not a key of this installation: nobody would believe the file');
    }
    const scope = { organizations: organizationId === undefined ? ('all' as const) : [organizationId] };
    const chain = organizationId === undefined ? part.agentId : (part.agentId ?? organizationChain(organizationId).chain);
    const organizations = await organizationsWithLog(run, scope, chain);
    if (organizations.length === 0) throw new StartRefused('the log holds nothing of that organization or agent');
    const refused = await refusedSize(source, organizations, part, '--organization');
    if (refused) throw new StartRefused(`${OPTIONS[refused.parameter]}: ${refused.message}`);
    const { from, to, agentId } = part;
    await withDataSource(databaseUrl, 2, (dataSource) => asService('cli', () =>
      recordExport(commandWork(dataSource), organizations, { type: 'admin.audit_exported', metadata: { from, to, agentId, format } })));
    const all = chain === undefined;
    const lines = logLines(source, { organizations, ...(all && { all }), ...part }, new Date().toISOString());
    await write(sealed(lines, signingKey(source.instance, seed), format));
  } finally {
    await close();
  }
}
