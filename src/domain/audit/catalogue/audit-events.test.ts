import { describe, expect, it } from '@jest/globals';
import { EVENTS, isAuditEventType } from './audit-events.js';
import type { EventDefinition } from './event-definition.js';

const events: Readonly<Record<string, EventDefinition>> = EVENTS;

/** The interface's list, section 6. */
const NAMED_BY_THE_INTERFACE = [
  'execution.started', 'execution.completed', 'execution.failed', 'execution.blocked',
  'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out',
  'agent.registered', 'agent.updated', 'agent.deactivated', 'agent.transferred', 'agent.token_refreshed',
  'capability.granted', 'capability.revoked', 'capability.config_updated',
  'auth.root_key_used', 'auth.agent_jwt_issued', 'auth.login', 'auth.logout', 'auth.failed',
  'admin.key_rotated', 'admin.user_created', 'admin.user_deleted', 'admin.audit_retention_sweep',
  'gdpr.export_requested', 'gdpr.erasure_executed',
  'llm.request', 'llm.pii_detected', 'llm.provider_error',
];

const OURS = [
  'hitl.voted', 'hitl.edited', 'hitl.cancelled', 'hitl.reminded', 'execution.reported', 'execution.settled', 'execution.retried',
  'execution.cancelled', 'agent.tokens_revoked', 'agent.activated', 'agent.removed', 'agent.setup_token_issued', 'agent.key_created',
  'agent.key_deleted',
  'agent.node_activated', 'capability.defined', 'capability.definition_updated', 'capability.definition_removed',
  'auth.credential_changed', 'auth.claims_changed', 'auth.chat_linked', 'auth.chat_unlinked',
  'admin.user_updated', 'admin.user_invited', 'admin.invitation_ended',
  'admin.user_key_created', 'admin.user_key_revoked',
  'admin.organization_created', 'admin.organization_updated', 'admin.team_changed', 'admin.channel_configured',
  'admin.secret_changed', 'admin.secret_rotated', 'admin.tenant_changed', 'admin.stop_started', 'admin.stop_ended', 'admin.audit_exported',
  'admin.signing_key_rotated', 'admin.recovered', 'gdpr.erasure_requested', 'gdpr.erasure_confirmed', 'task.delegated', 'task.ended',
];

describe('the catalogue of audit events', () => {
  it('holds every event of the interface, every one of ours, and no other', () => {
    expect(Object.keys(events).sort()).toEqual([...NAMED_BY_THE_INTERFACE, ...OURS].sort());
    expect(isAuditEventType('hitl.created')).toBe(true);
    expect(isAuditEventType('toString')).toBe(false);
  });

  it('says what became of each: an outcome, or none while it has not ended', () => {
    const others = Object.entries(events)
      .filter(([, { outcome }]) => outcome !== 'success')
      .map(([type, { outcome }]) => [type, outcome]);
    expect(others).toEqual([
      ['execution.started', undefined],
      ['execution.retried', undefined],
      ['execution.completed', 'executed'],
      ['execution.failed', 'failure'],
      ['execution.blocked', 'blocked'],
      ['auth.failed', 'failure'],
      ['llm.provider_error', 'failure'],
    ]);
  });

  it('puts the capability on entries of executions, requests and capabilities, and on no other', () => {
    for (const [type, { capability }] of Object.entries(events)) {
      expect([type, capability]).toEqual([type, /^(execution|hitl|capability)\./.test(type)]);
    }
  });

  // What people and agents write can be erased; what they cannot have written stands in clear.
  const KINDS: [string, RegExp, (type: string) => boolean][] = [
    ['members', /^(input|context|output)$/, () => true],
    ['members', /^metadata$/, (type) => type.startsWith('agent.')],
    ['value', /^(comment|note|error|tags|reasons|conditions|limits|quorum|outputSummary|nodeId)$/, () => true],
    ['value', /^(name|email|description)$/, () => true],
    ['value', /^reason$/, (type) => ['hitl.escalated', 'agent.transferred', 'admin.stop_started'].includes(type)],
    ['plain', /^reason$/, (type) => ['execution.blocked', 'execution.cancelled', 'hitl.cancelled', 'auth.failed'].includes(type)],
    ['plain', /^(hitlId|executionId|grantId|capability|hitlMode|level|expiresAt|digest)$/, () => true],
    ['plain', /^(riskLevel|role|scope|version|count)$/, () => true],
    ['plain', /^(durationMs|epoch|erased|fromSeq|fromHash|chains|archive)$/, () => true],
  ];
  it.each(KINDS)('%s: %s', (kind, name, where) => {
    const found = Object.entries(events).flatMap(([type, { members }]) =>
      Object.entries(members)
        .filter(([member]) => name.test(member) && where(type))
        .map(([member, definition]) => `${type} ${member} ${definition.kind}`),
    );
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((line) => !line.endsWith(` ${kind}`))).toEqual([]);
  });

  it('records what the interface says each request event carries', () => {
    const required = (type: string) =>
      Object.entries(events[type]!.members)
        .filter(([, { optional }]) => !optional)
        .map(([name]) => name);
    expect(required('hitl.created')).toEqual(['hitlId', 'capability', 'input', 'hitlMode', 'expiresAt', 'digest']);
    expect(required('hitl.approved')).toEqual(['hitlId']);
    expect(required('hitl.rejected')).toEqual(['hitlId']);
    expect(required('hitl.escalated')).toEqual(['hitlId', 'reason', 'level']);
    expect(required('hitl.timed_out')).toEqual(['hitlId', 'action']);
    expect(required('execution.completed')).toEqual(['executionId']);
  });

  it('names members that need no escaping, and says of each event what it is', () => {
    for (const [type, { members, doc }] of Object.entries(events)) {
      expect(type).toMatch(/^[a-z]+\.[a-z_]+$/);
      expect(doc).toMatch(/^[A-Z].*\.$/);
      for (const name of Object.keys(members)) expect(name).toMatch(/^[a-z][A-Za-z]*$/);
    }
  });
});
