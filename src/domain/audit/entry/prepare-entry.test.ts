import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../ids.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { EVENTS, type AuditEvent, type AuditEventType } from '../catalogue/audit-events.js';
import { agentChain, organizationChain, platformChain } from './chain.js';
import { commitmentDigest, committedText, type Disclosure } from './commitments.js';
import { pointersTo, prepareEntry, type RecordedEvent, type Stamp } from './prepare-entry.js';
import type { EventDefinition, Member } from '../catalogue/event-definition.js';
import { entryHash, preimage } from './entry-hash.js';
import { jcs } from './jcs.js';
import { readPayload, type Payload } from './payload.js';
import { pointerSteps } from './json-pointer.js';

const ORGANIZATION = newId('org');
const AGENT = newId('agt');
const USER = newId('usr');
const AT = new Date('2026-11-21T19:33:00.120Z');

const stamp = (more: Partial<Stamp> = {}): Stamp => ({ id: newId('audit'), actorId: 'root', timestamp: AT, ...more });
const inAgentChain = { chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT };

/** What any handler could record: a type, a place that fits it, and metadata of its members' kinds. */
function recorded(): fc.Arbitrary<RecordedEvent> {
  return fc.constantFrom(...(Object.keys(EVENTS) as AuditEventType[])).chain((type) => {
    const definition: EventDefinition = EVENTS[type];
    const chain =
      definition.chain === 'platform' ? platformChain()
      : definition.chain === 'organization' ? organizationChain(ORGANIZATION)
      : agentChain(ORGANIZATION, AGENT);
    const metadata = Object.fromEntries(Object.entries(definition.members).map(([name, member]) => [name, given(member)]));
    return fc.record(metadata, { requiredKeys: Object.keys(metadata).filter((name) => !definition.members[name]!.optional) }).map(
      (chosen) =>
        ({
          type,
          metadata: chosen,
          chain,
          ...(chain.chain === AGENT ? { agentId: AGENT } : {}),
          ...(definition.capability ? { capability: 'email.send' } : {}),
        }) as unknown as RecordedEvent,
    );
  });
}

function given(member: Member): fc.Arbitrary<unknown> {
  if (member.flag) return fc.boolean();
  if (member.kind === 'plain') return fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.array(fc.string()));
  if (member.kind === 'value') return fc.jsonValue({ maxDepth: 3 });
  return fc.oneof(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 })), fc.jsonValue({ maxDepth: 1 }));
}

const anyStamp: fc.Arbitrary<Stamp> = fc.record({
  id: fc.constant(newId('audit')),
  actorId: fc.constantFrom('root', 'system', USER, AGENT),
  timestamp: fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
  origin: fc.option(
    fc.record(
      {
        via: fc.constantFrom('rest' as const, 'worker' as const),
        requestId: fc.constant('req-12345678'),
        traceId: fc.constant('0af7651916cd43dd8448eb211c80319c'),
        address: fc.constantFrom('203.0.113.7', '2001:db8::1'),
      },
      { requiredKeys: ['via'] },
    ),
    { nil: undefined },
  ),
});

/** The payload put together as an object, as the format describes it: the slow way, for comparison. */
function payloadObject(event: RecordedEvent, { id, actorId, timestamp, origin }: Stamp, disclosures: Disclosure[]): JsonObject {
  const at = (pointer: string) => disclosures.filter((one) => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`));
  const definition: EventDefinition = EVENTS[event.type];
  const metadata: JsonObject = {};
  for (const [name, value] of Object.entries(event.metadata as Record<string, unknown>)) {
    const member = definition.members[name]!;
    if (value === undefined || (member.flag && value === false)) continue;
    const found = at(`/metadata/${name}`);
    const byMember = member.kind === 'members' && isJsonObject(value) && Object.keys(value).length <= 64;
    metadata[name] =
      member.kind === 'plain' ? (value as JsonObject)
      : byMember ? { '~members': found.map((one) => one.d).sort() }
      : { '~': found[0]!.d };
  }
  const { outcome } = definition;
  const { address, ...plainOrigin } = { ...origin };
  const committedAddress = address === undefined ? {} : { address: { '~': at('/origin/address')[0]!.d } };
  return {
    metadata,
    v: 1,
    id,
    event: event.type,
    actorId,
    organizationId: event.chain.organizationId,
    timestamp: timestamp.toISOString(),
    ...(outcome === undefined ? {} : { outcome }),
    ...(origin ? { origin: { ...plainOrigin, ...committedAddress } as JsonObject } : {}),
  };
}

describe('prepareEntry', () => {
  it('writes the payload that RFC 8785 gives for the object', () => {
    fc.assert(
      fc.property(recorded(), anyStamp, (event, at) => {
        const entry = prepareEntry(event, at);
        const disclosures = JSON.parse(entry.disclosures) as Disclosure[];
        expect(entry.payload).toBe(jcs(payloadObject(event, at, disclosures)));
        expect(jcs(JSON.parse(entry.payload))).toBe(entry.payload);
      }),
      { seed: 1, numRuns: 600 },
    );
  });

  it('discloses each committed value once, sorted by pointer, under 16 bytes of salt that open it', () => {
    fc.assert(
      fc.property(recorded(), anyStamp, (event, at) => {
        const disclosures = JSON.parse(prepareEntry(event, at).disclosures) as Required<Disclosure>[];
        const pointers = disclosures.map((one) => one.pointer);
        expect(pointers).toEqual([...new Set(pointers)].sort());
        expect(new Set(disclosures.map((one) => one.salt)).size).toBe(disclosures.length);
        for (const { d, pointer, salt, value } of disclosures) {
          const steps = pointerSteps(pointer)!;
          expect(salt).toMatch(/^[\w-]{22}$/);
          expect(jcs(JSON.parse(value))).toBe(value);
          expect(d).toBe(commitmentDigest(Buffer.from(salt, 'base64url'), committedText(steps[2], value)));
        }
      }),
      { seed: 2, numRuns: 400 },
    );
  });

  it('leaves out what has no value: outcome of started, false flags, undefined members, origin', () => {
    const entry = prepareEntry(
      {
        ...inAgentChain,
        type: 'execution.started',
        capability: 'web.search',
        metadata: { executionId: 'exec_1', definition: 'abc', input: {}, reasons: [], flagged: false, grantId: undefined },
      },
      stamp({ id: 'audit_1' }),
    );
    expect(JSON.parse(entry.payload)).toEqual({
      v: 1,
      id: 'audit_1',
      event: 'execution.started',
      actorId: 'root',
      organizationId: ORGANIZATION,
      timestamp: '2026-11-21T19:33:00.120Z',
      metadata: { executionId: 'exec_1', definition: 'abc', input: { '~members': [] }, reasons: { '~': expect.any(String) } },
    });
    expect(entry.outcome).toBeUndefined();
  });

  it('commits whole what is no object, and an object of over 64 members', () => {
    const large = Object.fromEntries(Array.from({ length: 65 }, (_unused, n) => [`m${n}`, n]));
    for (const input of [large, [1, 2], 'text', null]) {
      const entry = prepareEntry(
        { ...inAgentChain, type: 'execution.blocked', capability: 'web.search', metadata: { reason: 'STOPPED', input } },
        stamp(),
      );
      expect((JSON.parse(entry.payload) as { metadata: JsonObject }).metadata['input']).toEqual({ '~': expect.any(String) });
      expect(JSON.parse(entry.disclosures)).toEqual([expect.objectContaining({ pointer: '/metadata/input', value: jcs(input) })]);
    }
  });

  it('never repeats a commitment for the same value', () => {
    const digests = new Set<string>();
    for (let n = 0; n < 2_000; n++) {
      const entry = prepareEntry(
        { ...inAgentChain, type: 'agent.deactivated', metadata: { reason: 'the same' } },
        stamp(),
      );
      digests.add((JSON.parse(entry.disclosures) as Disclosure[])[0]!.d);
    }
    expect(digests.size).toBe(2_000);
  });

  it('names the people an entry is about', () => {
    const other = newId('usr');
    const escalated = prepareEntry(
      {
        ...inAgentChain,
        type: 'hitl.escalated',
        capability: 'web.post',
        metadata: { hitlId: 'hitl_1', reason: 'unsure', escalatedTo: other, level: 1 },
      },
      stamp({ actorId: USER, origin: { via: 'rest', address: '203.0.113.7' } }),
    );
    expect(escalated.subjects).toEqual([
      { userId: USER, pointer: '/origin/address' },
      { userId: other, pointer: '/metadata/escalatedTo' },
    ]);

    const asked = prepareEntry(
      {
        ...inAgentChain,
        type: 'execution.blocked',
        capability: 'web.post',
        metadata: { reason: 'STOPPED', context: { on_behalf_of: USER, session_id: 'sess_1' } },
      },
      stamp(),
    );
    expect(asked.subjects).toEqual([
      { userId: 'root', pointer: '/actorId' },
      { userId: USER, pointer: '/metadata/context/on_behalf_of' },
    ]);

    const itsOwn = prepareEntry({ ...inAgentChain, type: 'agent.tokens_revoked', metadata: { epoch: 1 } }, stamp({ actorId: AGENT }));
    expect(itsOwn.subjects).toEqual([]);

    const created = prepareEntry(
      {
        chain: organizationChain(ORGANIZATION),
        type: 'admin.user_created',
        metadata: { userId: other, email: 'ada@example.org', role: 'member' },
      },
      stamp({ actorId: USER }),
    );
    expect(created.subjects).toEqual([
      { userId: USER, pointer: '/actorId' },
      { userId: other, pointer: '/metadata/userId' },
      { userId: other, pointer: '/metadata/email' },
    ]);

    // Told again by what was written, once nobody remembers it beside.
    const recorded = ({ payload }: { payload: string }, user: string) => pointersTo(user, readPayload(payload) as Payload);
    expect(recorded(escalated, USER)).toEqual(['/origin/address']);
    expect(recorded(escalated, other)).toEqual(['/metadata/escalatedTo']);
    expect(recorded(asked, USER)).toEqual([]);
    expect(recorded(created, other)).toEqual(['/metadata/userId', '/metadata/email']);
    expect(recorded(created, newId('usr'))).toEqual([]);
  });

  const ofOrganization = { chain: organizationChain(ORGANIZATION) };
  const stop = { ...ofOrganization, type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope: 'organization' } };
  const late = { hitlId: 'hitl_1', action: 'reject' };
  const removed: RecordedEvent = { ...inAgentChain, type: 'agent.removed', metadata: {} };
  const far = new Date(Date.UTC(10_000, 0));
  const wrong = (event: object) => () => prepareEntry(event as RecordedEvent, stamp());
  it.each([
    ['an unknown type', wrong({ ...inAgentChain, type: 'agent.exploded', metadata: {} })],
    ['a name of every object', wrong({ ...inAgentChain, type: 'constructor', metadata: {} })],
    ['an unknown member', wrong({ ...inAgentChain, type: 'agent.deactivated', metadata: { mood: 'bad' } })],
    ['a missing member', wrong({ ...inAgentChain, type: 'agent.activated', metadata: {} })],
    ['null in clear', wrong({ ...inAgentChain, type: 'agent.activated', metadata: { epoch: null } })],
    ['a plain object like a commitment', wrong({ ...inAgentChain, type: 'agent.activated', metadata: { epoch: [{ '~': 1 }] } })],
    ['an agent event without its agent', wrong({ chain: inAgentChain.chain, type: 'agent.removed', metadata: {} })],
    ['an agent event in another chain', wrong({ ...ofOrganization, type: 'agent.removed', metadata: {} })],
    ['an agent on an entry of the organization', wrong({ ...stop, agentId: AGENT })],
    ['a platform event in an organization', wrong({ ...ofOrganization, type: 'admin.key_rotated', metadata: {} })],
    ['no capability where it stands', wrong({ ...inAgentChain, type: 'hitl.timed_out', metadata: late })],
    ['a capability where none stands', wrong({ ...inAgentChain, capability: 'web.search', type: 'agent.removed', metadata: {} })],
    ['a year of five digits', () => prepareEntry(removed, stamp({ timestamp: far }))],
  ])('refuses %s', (_name, attempt) => {
    expect(attempt).toThrow(TypeError);
  });

  it('does not compile with a wrong member or type', () => {
    const mistakes: AuditEvent[] = [
      // @ts-expect-error -- epoch is a number
      { type: 'agent.activated', metadata: { epoch: 'one' } },
      // @ts-expect-error -- epoch is missing
      { type: 'agent.activated', metadata: {} },
      // @ts-expect-error -- no such member
      { type: 'agent.activated', metadata: { epoch: 1, mood: 'bad' } },
      // @ts-expect-error -- no such event
      { type: 'agent.exploded', metadata: {} },
      // @ts-expect-error -- capability stands on hitl entries
      { type: 'hitl.timed_out', metadata: { hitlId: 'hitl_1', action: 'reject' } },
      // @ts-expect-error -- and on none of an agent's
      { type: 'agent.activated', capability: 'web.search', metadata: { epoch: 1 } },
    ];
    expect(mistakes).toHaveLength(6);
  });
});

describe('entryHash', () => {
  it('is SHA-256 of the canonical form of agentId, capability, payload and prevHash', () => {
    fc.assert(
      fc.property(
        fc.record({ agentId: fc.string(), capability: fc.string(), prevHash: fc.string() }, { requiredKeys: [] }),
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
        (parts, payload) => {
          expect(preimage({ ...parts, payload: jcs(payload) })).toBe(jcs({ ...parts, payload }));
        },
      ),
      { seed: 3, numRuns: 300 },
    );
    expect(entryHash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
