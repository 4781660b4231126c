import { Injectable } from '@nestjs/common';
import type { Family } from '../../../domain/llm/family.js';
import type { TokenMap } from '../../../domain/pii/answers/tokens.js';
import type { EntityCounts } from '../../../domain/pii/entity-types.js';
import type { ScannedText } from '../../../domain/pii/scan-call.js';
import type { PiiAction, PiiSettings } from '../../../domain/pii/settings.js';
import type { JsonObject } from '../../../domain/json.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { PiiScanner, ScanFailed } from './pii-scanner.service.js';
import { DEFAULT_SCAN, type ScanSettings, ScanSettingsQuery } from './scan-settings.query.js';

/** A call as it may leave. */
export interface ScannedCallBody {
  /** JSON, with everything that was found replaced. */
  readonly body: string;
  /** What it says; nothing of a call that is blocked. */
  readonly value: JsonObject;
  readonly counts: EntityCounts;
  readonly isSkipped: boolean;
  readonly isBlocked: boolean;
  /** Images, sounds, files, and what is not known to be text, which nobody has read. */
  readonly unscanned: number;
  readonly tokens: TokenMap;
  /** How answers are read. */
  readonly settings: PiiSettings;
}

/** What the log calls that which was done with what was found. */
export const DONE: Readonly<Record<PiiAction, string>> = {
  redact: 'redacted', mask: 'masked', tokenize: 'tokenized', block: 'blocked',
};

export const isDetected = ({ counts }: Pick<ScannedCallBody, 'counts'>): boolean => Object.keys(counts).length > 0;

const NOBODY_READS = 'The call holds what is not known to be text (images, sounds, files, unknown parts), and this organization requires ' +
  'the scan: nothing was sent.';

/** Scans a call before anything of it leaves. Where it is not known what the call holds, it does not leave. */
@Injectable()
export class ScanCallService {
  constructor(
    private readonly scanner: PiiScanner,
    private readonly settings: ScanSettingsQuery,
  ) {}

  /**
   * @param organizationId whose settings hold; none for root's own calls
   * @throws Problem PII_SCAN_REQUIRED; UNAVAILABLE where the scan came to no end
   */
  async scan(body: JsonObject, family: Family, wanted: boolean, organizationId: string | undefined): Promise<ScannedCallBody> {
    const text = JSON.stringify(body);
    const { isRequired, pii } = await this.settingsOf(organizationId);
    if (!wanted) {
      if (isRequired) throw new Problem('PII_SCAN_REQUIRED', 'This organization requires the scan; leave scanPii out.');
      const settings = { ...pii, answers: 'off' } as const;
      return { body: text, value: body, counts: {}, isSkipped: true, isBlocked: false, unscanned: 0, tokens: new Map(), settings };
    }
    const { tokens, ...scanned } = await ended(this.scanner.scan({ body: text, family, settings: pii }, undefined, body));
    if (isRequired && scanned.unscanned > 0) throw new Problem('PII_SCAN_REQUIRED', NOBODY_READS);
    const value = scanned.isBlocked ? {} : scanned.body === text ? body : (JSON.parse(scanned.body) as JsonObject);
    return { ...scanned, value, isSkipped: false, tokens: new Map(tokens), settings: pii };
  }

  /** What the scan would make of a text. @throws Problem UNAVAILABLE */
  async preview(text: string, organizationId: string | undefined): Promise<ScannedText> {
    const { pii } = await this.settingsOf(organizationId);
    return ended(this.scanner.preview(text, pii));
  }

  private async settingsOf(organizationId: string | undefined): Promise<ScanSettings> {
    return organizationId === undefined ? DEFAULT_SCAN : this.settings.of(organizationId);
  }
}

/** @throws Problem UNAVAILABLE where the scan came to no end */
function ended<Scanned>(scan: Promise<Scanned>): Promise<Scanned> {
  return scan.catch((error: unknown) => {
    if (!(error instanceof ScanFailed)) throw error;
    const detail = 'The text could not be scanned for personal data; nothing was sent.';
    throw new Problem('UNAVAILABLE', detail, { headers: { 'Retry-After': '1' } });
  });
}
