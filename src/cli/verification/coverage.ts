import type { FileMember } from '../../domain/audit/export/superseded/file-covers.js';
import type { NewerMember, Verification } from '../../modules/audit/verification/verification-result.js';

/** Of what a verification may say that it is as it was written. @param agentId whose chain alone was read, of a database */
export function soundHeadline({ entries, members }: Verification, agentId?: string): string {
  const { covers, file, newer } = members as unknown as Partial<FileMember & NewerMember>;
  if (newer?.everything === false) return 'What is newer goes on from what is remembered, and is as it was written.';
  if (file && entries === 0 && covers !== 'log') return 'The file holds no entry; what it says of the log fits what was signed.';
  if (covers === 'archive') return "The skeleton of a sweep's archive is as it was written; its values were not read.";
  if (file && covers === 'person') return `What is shown of ${file.userId ?? 'a person'} is as it was written.`;
  if (file && covers === 'part') return `${capital(partOf(file))} is as it was written.`;
  if (file && covers === 'organizations') return `The audit log of ${listed(file.organizations)} is as it was written.`;
  return agentId === undefined ? 'The audit log is as it was written.' : `The chain of agent ${agentId} is as it was written.`;
}

/** Whether the file is of everything, and of what it says nothing; nothing for what is no file. */
export function coverageLines({ members }: Verification): string[] {
  const { covers, file } = members as unknown as Partial<FileMember>;
  if (!covers || !file) return [];
  if (file.cutOff) return ['the end of the file was cut off: it is no whole export, and says nothing of what stood there'];
  const told: Record<FileMember['covers'], string> = {
    log: 'the file covers everything: all organizations, each of them whole',
    organizations: `the file covers ${listed(file.organizations)}, whole; of other organizations it says nothing`,
    part: `the file covers ${partOf(file)}; of the rest it says nothing`,
    person: `the file covers what is about ${file.userId ?? 'a person'}; of the rest it says nothing`,
    archive: `the file is the skeleton of an archive of ${listed(file.organizations)}; of its values and of the rest it says nothing:`
      + ' countersign audit verify-archive reads them',
  };
  return [told[covers]];
}

function partOf({ organizations, agentId, from, to }: FileMember['file']): string {
  const what = agentId === null ? 'what is shown' : `the chain of agent ${agentId}`;
  const window = `${from === null ? '' : ` from ${from}`}${to === null ? '' : ` to ${to}`}`;
  return `${what} of ${listed(organizations)}${window}`;
}

const LISTED = 3;

function listed(organizations: readonly string[]): string {
  const more = organizations.length - LISTED;
  const shown = organizations.slice(0, LISTED).join(', ');
  return more > 0 ? `${shown} and ${more.toLocaleString('en')} other organizations` : shown;
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
