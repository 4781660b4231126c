import { Injectable } from '@nestjs/common';
import { DEFAULT_PII_SETTINGS, type PiiSettings, piiSettings } from '../../../domain/pii/settings.js';
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

const READ: NamedStatement = { name: 'llm-scan-settings-1', text: 'select scan_pii, pii from organizations where id = $1' };

interface Row {
  scan_pii: string;
  pii: Partial<PiiSettings> | null;
}

/** Read for each call: what an administrator sets holds for the next one, on every server. */
@Injectable()
export class ScanSettingsQuery {
  constructor(private readonly statements: Statements) {}

  async of(organizationId: string): Promise<ScanSettings> {
    const [row] = await this.statements.run<Row & Record<string, unknown>>(READ, [organizationId]);
    if (row === undefined) return DEFAULT_SCAN;
    return { isRequired: row.scan_pii === 'required', pii: piiSettings(row.pii ?? {}) };
  }
}
