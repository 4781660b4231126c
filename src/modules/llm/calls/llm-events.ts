import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { given } from '../../../domain/given.js';
import type { TokenUsage } from '../../../domain/llm/family.js';
import type { JsonObject } from '../../../domain/json.js';
import { DONE, isDetected, type ScannedCallBody } from '../scan/scan-call.service.js';
import type { FailureCode } from '../providers/provider-failure.js';
import type { Performed } from './perform-call.service.js';

/** What is said of a call beside what came of it. */
export interface CallFacts {
  readonly executionId?: string | undefined;
  readonly digest: string;
  readonly promptTokens: number;
  readonly scan: Pick<ScannedCallBody, 'counts' | 'isSkipped' | 'unscanned' | 'settings'>;
}

const BROKEN_OFF: ReadonlySet<FailureCode> = new Set(['CLIENT_CLOSED', 'SERVER_ENDED', 'SCAN_FAILED']);

export const isBrokenOff = ({ failure }: Performed): boolean => failure !== undefined && BROKEN_OFF.has(failure.code);

/** Of the types found and how many of each, never a value; nothing where nothing was found. */
export function detectedEvents(model: string, { counts, settings }: CallFacts['scan'], executionId?: string): AuditEvent[] {
  if (!isDetected({ counts })) return [];
  const metadata = { model, counts: counts as Record<string, number>, action: DONE[settings.action], ...given({ executionId }) };
  return [{ type: 'llm.pii_detected', metadata }];
}

/** What came of a call: counts and codes, never a text. */
export function closingEvents(performed: Performed, { executionId, digest, promptTokens, scan }: CallFacts): AuditEvent[] {
  const { model, provider, durationMs, failure, answerCounts } = performed;
  const common = { model, provider, durationMs, ...given({ executionId }) };
  if (failure && !isBrokenOff(performed)) {
    const { code, message, status } = failure;
    return [{ type: 'llm.provider_error', metadata: { ...common, error: { code, message }, ...given({ status }) } }];
  }
  const usage = usageOf(performed, promptTokens);
  const detected = isDetected(scan);
  return [{
    type: 'llm.request',
    metadata: {
      ...common, ...usage, digest,
      ...(scan.isSkipped ? { scanSkipped: true } : {}),
      ...(detected ? { piiDetected: true, piiRedacted: true } : {}),
      ...(scan.unscanned > 0 ? { unscanned: scan.unscanned } : {}),
      ...(Object.keys(answerCounts).length > 0 ? { answerCounts: answerCounts as Record<string, number> } : {}),
      ...(failure ? { brokenOff: true } : {}),
    },
  }];
}

/** As the provider counted it. Of a call that was broken off it may not have said: then as much as can be seen of it. */
export function usageOf({ facts: { usage }, failure, events }: Performed, promptTokens: number): TokenUsage {
  if (!failure) return usage;
  return { promptTokens: usage.promptTokens || promptTokens, completionTokens: Math.max(usage.completionTokens, events) };
}

/** What an execution keeps of an answer. */
export function outputOf(performed: Performed, promptTokens: number): JsonObject {
  const { model, facts: { finishReason } } = performed;
  return { model, usage: { ...usageOf(performed, promptTokens) }, ...given({ finishReason }) };
}
