/** Where the archive of a retention run stands. */
export const archiveFolder = (organizationId: string, sweepId: string): string => `${organizationId}/${sweepId}`;

const object = (file: string) => ({
  of: (organizationId: string, sweepId: string): string => `${archiveFolder(organizationId, sweepId)}/${file}`,
  isOf: (name: string): boolean => name.endsWith(`/${file}`),
});

/** Payloads and hashes, each entry with its proof: written once. */
export const skeletonName = object('skeleton.jsonl.gz');
/** The values, from which may still be erased. */
export const disclosuresName = object('disclosures.jsonl.gz');
