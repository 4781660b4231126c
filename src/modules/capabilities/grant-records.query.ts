import { decodeJson, decodeTime } from '../../domain/audit/integrity/row-decoding.js';
import type { JsonValue } from '../../domain/json.js';
import { inOrder, recordRows } from '../../platform/audit/record-rows.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';

interface Row {
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string | null;
  readonly teamId: string | null;
  readonly capability: string;
  readonly version: number;
  readonly hitlMode: string;
  readonly expiresAt: unknown;
  readonly timeoutSeconds: number | null;
  readonly timeoutAction: string;
  readonly conditions: JsonValue;
  readonly limits: JsonValue;
  readonly quorum: JsonValue;
  readonly reminders: JsonValue;
  readonly isRevoked: boolean;
  readonly revokedBy: string | null;
  readonly grantedBy: string;
}

const ROWS = `
  select g.organization_id as "organizationId", g.id, g.agent_id as "agentId", g.team_id as "teamId", g.capability, g.version,
    g.hitl_mode as "hitlMode", g.expires_at as "expiresAt", g.timeout_seconds as "timeoutSeconds", g.timeout_action as "timeoutAction",
    g.conditions, g.limits, g.quorum, g.reminders, g.revoked_at is not null as "isRevoked", g.revoked_by as "revokedBy",
    g.granted_by as "grantedBy"
  from capability_grants g ${inOrder('g')}`;

/** Grants of agents and of teams, with all their terms, for comparison with the log. */
export const grantRecords: RecordKeeper = {
  kind: 'grant',
  definedIn: import.meta.url,
  rows: (run, selection) =>
    recordRows<Row>(run, ROWS, selection, ({ organizationId, id, agentId, capability, isRevoked, expiresAt, ...terms }) => ({
      organizationId, id, agentId, capability,
      status: isRevoked ? 'revoked' : 'granted',
      members: {
        ...terms,
        expiresAt: decodeTime(expiresAt),
        conditions: decodeJson(terms.conditions), limits: decodeJson(terms.limits), quorum: decodeJson(terms.quorum),
        reminders: decodeJson(terms.reminders),
      },
    })),
};
