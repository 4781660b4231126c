export const SUMMARY_CHARACTERS = 1_000;

/** The first characters of a canonical output, as its entry has them; never half of a surrogate pair. */
export function outputSummary(text: string): string {
  const first = text.slice(0, SUMMARY_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(first) ? first.slice(0, -1) : first;
}

/** Whether the output may go on behind its summary. */
export function isCutSummary(summary: string): boolean {
  return summary.length >= SUMMARY_CHARACTERS - 1;
}
