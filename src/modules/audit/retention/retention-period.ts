const DAY_MS = 86_400_000;

/** Six months: how long logs of a high-risk AI system are to be kept at least (Regulation (EU) 2024/1689, articles 19 and 26). */
export const LEAST_DAYS = 183;

/** Why a period is shorter than it should be. */
export function retentionWarning(days: number | undefined): string | undefined {
  if (days === undefined || days >= LEAST_DAYS) return undefined;
  return `AUDIT_RETENTION_DAYS is ${days}: logs of high-risk AI systems are to be kept for ${LEAST_DAYS} days at least.`;
}

/** What was under a checkpoint before this moment is older than the period. */
export function olderThan(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS);
}
