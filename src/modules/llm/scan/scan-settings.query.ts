import { Injectable } from '@nestjs/common';
import { DEFAULT_PII_SETTINGS, type PiiSettings, piiSettings } from '../../../domain/pii/settings.js';
import { Batcher } from '../../../platform/database/batching/batcher.js';
import type { NamedStatement } from '../../../platform/database/statements/named-statement.js';
import { Statements } from '../../../platform/database/statements/statements.js';

/** What an organization wants of the scan. */
export interface ScanSettings {
  /** Nobody may leave the scan out, and what no scan reads does not leave. */
  readonly isRequired: boolean;
  readonly pii: PiiSettings;
}

/** Of calls that belong to no organization: root's own. */
export const DEFAULT_SCAN: ScanSettings = { isRequired: false, pii: DEFAULT_PII_SETTINGS };

const READ: NamedStatement = {
  name: 'llm-scan-settings-2', text: 'select id, scan_pii, pii from organizations where id = any ($1::text[])',
};

interface Row extends Record<string, unknown> {
  id: string;
  scan_pii: string;
  pii: Partial<PiiSettings> | null;
}

/**
 * Read for each call: what an administrator sets holds for the next one, on every server. Calls that come while others are read are read
 * together, so that many at once cost few statements.
 */
@Injectable()
export class ScanSettingsQuery {
  private readonly together = new Batcher<string, ScanSettings>({
    lanes: 1,
    largest: 1_000,
    longest: 5_000,
    keyOf: (organizationId) => organizationId,
    process: async (organizationIds) => {
      const rows = await this.statements.run<Row>(READ, [[...new Set(organizationIds)]]);
      const settings = new Map<string, ScanSettings>(rows.map(({ id, scan_pii: scanPii, pii }) =>
        [id, { isRequired: scanPii === 'required', pii: piiSettings(pii ?? {}) }]));
      return organizationIds.map((id) => ({ kind: 'answer', answer: settings.get(id) ?? DEFAULT_SCAN }));
    },
  });

  constructor(private readonly statements: Statements) {}

  /** @throws Problem UNAVAILABLE */
  of(organizationId: string): Promise<ScanSettings> {
    return this.together.submit(organizationId);
  }
}
