import type { JsonObject, JsonValue } from '../../json.js';
import { jcs } from '../jcs.js';
import type { StoredEntry } from '../stored-entry.js';
import { number, type OpenEntry, text } from './open-entry.js';
import { countedMembers, type FactValue, type Place, type ToldFact } from './record-fact.js';

/** Where what its entries say goes: what they tell, and where they contradict themselves. */
export interface Listener {
  told(fact: ToldFact): void;
  contradiction(place: Place, detail: string): void;
}

interface Execution {
  status: 'pending_hitl' | 'running';
  capability: string;
  members: Record<string, FactValue>;
  place: Place;
}

interface Request {
  status: string;
  capability: string;
  executionId: string | undefined;
  members: Record<string, FactValue>;
  place: Place;
}

type Grant = Omit<ToldFact, 'kind' | 'entryId'>;

/** Events that it needs; of the last ones also what they disclose. */
export const RECORD_EVENTS: ReadonlySet<string> = new Set([
  'execution.started', 'execution.retried', 'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled',
  'execution.reported', 'execution.settled', 'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out',
  'hitl.cancelled', 'hitl.edited', 'capability.granted', 'capability.config_updated', 'capability.revoked',
]);

/**
 * What the entries of one chain say of executions, requests and grants. Holds what is still going on, and the grants; tells what has
 * ended as it ends, and the rest at the end of the chain.
 */
export class ToldRecords {
  private readonly executions = new Map<string, Execution>();
  private readonly requests = new Map<string, Request>();
  private readonly grants = new Map<string, Grant>();

  /** @param isCut the beginning of the chain was swept, so that what it said first is not known */
  constructor(
    private readonly organizationId: string,
    private readonly agentId: string | null,
    private readonly isCut: boolean,
    private readonly listener: Listener,
  ) {}

  entry({ stored, metadata, erased }: OpenEntry): void {
    const [family] = stored.event.split('.', 1);
    if (family === 'execution') this.execution(stored, metadata);
    else if (family === 'hitl') this.request(stored, metadata);
    else if (stored.event === 'capability.revoked') this.revoked(stored, metadata);
    else this.granted(stored, metadata, erased);
  }

  /** After the last entry of the chain. */
  end(): void {
    for (const [id, { status, ...execution }] of this.executions) this.tellExecution(id, status, execution, null);
    for (const [id, request] of this.requests) this.tellRequest(id, request, null);
    for (const grant of this.grants.values()) this.listener.told({ kind: 'grant', entryId: null, ...grant });
  }

  private execution(stored: StoredEntry, metadata: JsonObject): void {
    const id = text(metadata, 'executionId');
    if (id === undefined) return;
    const place = placeOf(stored);
    const capability = stored.capability ?? '';
    const known = this.executions.get(id);
    switch (stored.event) {
      case 'execution.started':
        if (known?.status === 'running') this.contradict(place, `begins execution ${id} a second time`);
        this.executions.set(id, { status: 'running', capability, members: startedMembers(metadata), place });
        return;
      case 'execution.retried':
        if (known?.status !== 'running') return this.contradict(place, `begins execution ${id} again, which was not running`);
        Object.assign(known.members, present({ grantId: text(metadata, 'grantId'), grantVersion: number(metadata, 'grantVersion') }));
        return;
      case 'execution.completed':
      case 'execution.failed':
        if (known?.status !== 'running') return this.contradict(place, `closes execution ${id}, which was not running`);
        return this.close(id, closedStatus(stored, metadata), { ...known, place }, stored.id);
      case 'execution.cancelled':
        if (known?.status !== 'pending_hitl') return this.contradict(place, `cancels execution ${id}, which was not waiting to begin`);
        known.members['reason'] = text(metadata, 'reason') ?? null;
        return this.close(id, 'cancelled', { ...known, place }, stored.id);
      case 'execution.blocked':
        return this.tellExecution(id, 'blocked', { capability, members: { reason: text(metadata, 'reason') }, place }, stored.id);
      case 'execution.reported':
        // What came in late stands beside the row, which keeps what closed it.
        if (metadata['late'] !== true) this.tellLater('report', id, stored, {}, metadata);
        return;
      case 'execution.settled':
        return this.tellLater('settlement', id, stored, { settledBy: stored.actorId }, metadata);
      default:
    }
  }

  private request(stored: StoredEntry, metadata: JsonObject): void {
    const id = text(metadata, 'hitlId');
    if (id === undefined) return;
    const place = placeOf(stored);
    if (stored.event === 'hitl.created') return this.asked(id, stored, metadata, place);
    const request = this.requests.get(id);
    if (!request) return this.contradict(place, `decides request ${id}, which was not open`);
    request.place = place;
    switch (stored.event) {
      case 'hitl.edited':
        // Its mode may be another by that, which no entry names: of edited ones it is not compared.
        Object.assign(request.members, { version: number(metadata, 'version'), digest: text(metadata, 'digest'), mode: null });
        return;
      case 'hitl.escalated':
        request.status = 'escalated';
        request.members['level'] = number(metadata, 'level');
        return;
      case 'hitl.timed_out': {
        const action = text(metadata, 'action');
        // Another entry of the same commit tells what became of it.
        if (action === 'approve' || action === 'escalate') return;
        return this.decide(id, request, 'timed_out', stored, 'system');
      }
      case 'hitl.approved':
        request.members['breakGlass'] = metadata['breakGlass'] === true;
        return this.decide(id, request, 'approved', stored, stored.actorId);
      case 'hitl.rejected':
        return this.decide(id, request, 'rejected', stored, stored.actorId);
      case 'hitl.cancelled':
        return this.decide(id, request, 'cancelled', stored, stored.actorId);
      default:
    }
  }

  private asked(id: string, stored: StoredEntry, metadata: JsonObject, place: Place): void {
    const capability = stored.capability ?? '';
    const mode = text(metadata, 'hitlMode');
    const executionId = text(metadata, 'executionId');
    const [grantId, definition] = [text(metadata, 'grantId'), text(metadata, 'definition')];
    this.requests.set(id, {
      status: mode === 'escalate' ? 'escalated' : 'pending', capability, executionId, place,
      members: {
        executionId, grantId, definition, mode, level: number(metadata, 'level'), digest: text(metadata, 'digest'), version: 1,
        decidedBy: null, breakGlass: false,
      },
    });
    if (executionId === undefined) return;
    const members = { hitlId: id, grantId, grantVersion: number(metadata, 'grantVersion'), definition, reason: null };
    this.executions.set(executionId, { status: 'pending_hitl', capability, members, place });
  }

  /** What was not approved does not begin: its waiting execution ends with the same entry. */
  private decide(id: string, request: Request, status: string, stored: StoredEntry, decidedBy: string): void {
    request.status = status;
    request.members['decidedBy'] = decidedBy;
    this.requests.delete(id);
    this.tellRequest(id, request, stored.id);
    const execution = request.executionId === undefined ? undefined : this.executions.get(request.executionId);
    if (status === 'approved' || execution?.status !== 'pending_hitl') return;
    execution.members['reason'] = status;
    this.close(request.executionId!, 'cancelled', { ...execution, place: placeOf(stored) }, stored.id);
  }

  private granted(stored: StoredEntry, metadata: JsonObject, erased: ReadonlySet<string>): void {
    const id = text(metadata, 'grantId');
    if (id === undefined) return;
    const written = (name: string, none: JsonValue = null): FactValue => {
      if (erased.has(name)) return undefined;
      const value = metadata[name] ?? none;
      return typeof value === 'object' && value !== null ? jcs(value) : value;
    };
    this.grants.set(id, {
      organizationId: this.organizationId, id, agentId: this.agentId, capability: stored.capability ?? '', status: 'granted',
      place: placeOf(stored),
      members: {
        version: number(metadata, 'version'), teamId: text(metadata, 'teamId') ?? null, hitlMode: text(metadata, 'hitlMode'),
        expiresAt: text(metadata, 'expiresAt') ?? null, timeoutSeconds: number(metadata, 'timeoutSeconds') ?? null,
        timeoutAction: text(metadata, 'timeoutAction'), conditions: written('conditions', []), limits: written('limits', []),
        quorum: written('quorum'), revokedBy: null,
      },
    });
  }

  private revoked(stored: StoredEntry, metadata: JsonObject): void {
    const id = text(metadata, 'grantId');
    if (id === undefined) return;
    const known = this.grants.get(id);
    const place = placeOf(stored);
    if (!known && !this.isCut) return this.contradict(place, `revokes grant ${id}, which was never given`);
    if (known?.status === 'revoked') return this.contradict(place, `revokes grant ${id} a second time`);
    const members = known ? { ...known.members, revokedBy: stored.actorId } : { ...UNTOLD, revokedBy: stored.actorId };
    const same = { organizationId: this.organizationId, id, agentId: this.agentId, capability: stored.capability ?? '' };
    this.grants.set(id, { ...same, status: 'revoked', place, members });
  }

  private close(id: string, status: string, execution: Omit<Execution, 'status'>, entryId: string): void {
    this.executions.delete(id);
    this.tellExecution(id, status, execution, entryId);
  }

  private tellExecution(id: string, status: string, execution: Omit<Execution, 'status'>, entryId: string | null): void {
    const { capability, members, place } = execution;
    const same = { organizationId: this.organizationId, agentId: this.agentId, capability };
    this.listener.told({ kind: 'execution', ...same, id, status, entryId, members: countedMembers(status, members), place });
  }

  private tellRequest(id: string, { status, capability, members, place }: Request, entryId: string | null): void {
    const same = { organizationId: this.organizationId, agentId: this.agentId, capability };
    this.listener.told({ kind: 'request', ...same, id, status, entryId, members: { ...members }, place });
  }

  private tellLater(
    kind: 'report' | 'settlement', id: string, stored: StoredEntry, members: Record<string, FactValue>, metadata: JsonObject,
  ): void {
    const same = { organizationId: this.organizationId, agentId: null, capability: stored.capability ?? '' };
    this.listener.told({
      kind, ...same, id, status: text(metadata, 'outcome') ?? '', entryId: null, members, place: placeOf(stored),
    });
  }

  private contradict({ chain, position, entryId }: Place, what: string): void {
    this.listener.contradiction({ chain, position, entryId }, `entry ${position} of chain ${chain} ${what}`);
  }
}

/** Of a grant whose first entries were cut off. */
const UNTOLD: Record<string, FactValue> = Object.fromEntries(
  ['version', 'teamId', 'hitlMode', 'expiresAt', 'timeoutSeconds', 'timeoutAction', 'conditions', 'limits', 'quorum']
    .map((name) => [name, undefined]),
);

function startedMembers(metadata: JsonObject): Record<string, FactValue> {
  return {
    hitlId: text(metadata, 'hitlId') ?? null, grantId: text(metadata, 'grantId') ?? null,
    grantVersion: number(metadata, 'grantVersion') ?? null, definition: text(metadata, 'definition'),
  };
}

function closedStatus({ event }: StoredEntry, metadata: JsonObject): string {
  if (event === 'execution.completed') return 'executed';
  return metadata['outcome'] === 'indeterminate' ? 'indeterminate' : 'failed';
}

function placeOf({ chain, seq, id }: StoredEntry): Place {
  return { chain, position: seq, entryId: id };
}

function present(members: Record<string, FactValue>): Record<string, FactValue> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
