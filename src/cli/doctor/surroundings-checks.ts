import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { archiveOf } from '../../modules/audit/retention/archives/directory-archive.js';
import { OutboundGuard } from '../../platform/outbound/outbound-guard.js';
import type { Config } from '../../platform/config/config.js';
import { DISK_TO_EXPECT } from '../../platform/config/disk-to-expect.js';
import { Smtp, mailCodes } from '../../platform/mail/smtp.js';
import { createLogger } from '../../platform/logging/logger.js';
import { note, well, wrong, type Finding } from './finding.js';

const GIGABYTE = 1_000_000_000;
/** Below it a database comes to a stop within days, at a hundred calls a second within hours. */
const LEAST_FREE = GIGABYTE;
const LITTLE_FREE = 10 * GIGABYTE;

/** What a server needs besides its database. */
export function surroundingsChecks(config: Config): Promise<Finding[]> {
  return Promise.all([
    mailFinding(config), providerFinding(config), diskFinding(config), Promise.resolve(retentionFinding(config)),
    ...archiveFindings(config),
  ]);
}

async function mailFinding(config: Config): Promise<Finding> {
  const { smtpHost: host } = config;
  if (host === undefined) return note('mail', 'there is no mail server', 'set SMTP_HOST for invitations, passwords and decisions by mail');
  try {
    await new Smtp(config).check();
    return well('mail', `${host} lets us in`);
  } catch (error) {
    return wrong('mail', `${host} does not let us in (${mailCodes(error)})`, 'look at SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS');
  }
}

async function providerFinding(config: Config): Promise<Finding> {
  const { oidcIssuer: issuer } = config;
  if (issuer === undefined) return note('provider', 'there is no identity provider', 'set OIDC_ISSUER to sign people in by yours');
  const [{ ProviderMetadata }, { ProviderFetch }] = await Promise.all([
    import('../../modules/sign-in/provider/client/provider-metadata.js'), import('../../modules/sign-in/provider/client/provider-fetch.js'),
  ]);
  const guard = new OutboundGuard({ production: config.production, allow: config.outboundAllow });
  const metadata = new ProviderMetadata(config, new ProviderFetch(config, guard), createLogger({ logLevel: 'silent' }));
  try {
    await metadata.get();
    return well('provider', `${issuer} answers`);
  } catch {
    return wrong('provider', `${issuer} does not describe itself`,
      'look at OIDC_ISSUER: its /.well-known/openid-configuration has to be reachable from here, and to name the same issuer');
  }
}

/** Readiness only says that it cannot be used: anybody may ask there. */
function archiveFindings(config: Config): Promise<Finding>[] {
  if (config.auditRetentionDays === undefined) return [];
  const found = archiveOf(config).check().then(() => well('archive', 'what is swept can be kept'), (error: Error) =>
    wrong('archive', `nothing is swept: ${error.message}`, 'look at AUDIT_ARCHIVE'));
  return [found];
}

/** Of the data directory, where the embedded database and the anchors stand; of another database's disk nothing is known here. */
async function diskFinding({ dataDir, embedded }: Config): Promise<Finding> {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${(free / GIGABYTE).toFixed(1)} GB are free for ${dataDir}${embedded ? '' : ' (anchors; not the database)'}`;
  if (free < LEAST_FREE) return wrong('disk', detail, 'make room, or move DATA_DIR');
  return free < LITTLE_FREE ? note('disk', detail, 'see to more before it is full') : well('disk', detail);
}

/** A question that nobody asks until the disk is full. */
function retentionFinding({ auditRetentionDays: entries, recordsRetentionDays: records }: Config): Finding {
  const kept = [
    ...entries === undefined ? ['entries of the log'] : [],
    ...records === undefined ? ['inputs and outputs of calls'] : [],
  ];
  const whenBoth = `entries are archived after ${entries} days, inputs and outputs blanked after ${records}`;
  if (kept.length === 0) return well('retention', whenBoth);
  const todo = 'how long do you have to keep them? Set AUDIT_RETENTION_DAYS with AUDIT_ARCHIVE, and RECORDS_RETENTION_DAYS '
    + '(docs/capacity.md)';
  return note('retention', `${kept.join(' and ')} are kept for ever: ${DISK_TO_EXPECT}`, todo);
}
