import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DecisionRecord } from '../../../domain/audit/catalogue/basis.js';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { hasModelCall } from '../../../domain/gate/decided-input.js';
import type { GateDecision } from '../../../domain/gate/decide.js';
import { stricterOf } from '../../../domain/hitl/duties.js';
import { editDiff } from '../../../domain/hitl/edit-diff.js';
import { HIGHEST_LEVEL, type HitlCommand } from '../../../domain/hitl/transition.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { grantUses, hasLimits } from '../../authority/decide-by-facts.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { quorumOf } from './count-votes.service.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { HitlRequestStore } from '../requests/hitl-request.store.js';
import type { Decision, DecisionContext } from './decision.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { decideAgain, digestOf, type FailedPrecondition } from './approval-precondition.js';

type Permitted = Extract<GateDecision, { kind: 'ask' | 'run' }>;

/** An edit that the gate lets pass. */
export interface WantedEdit {
  /** Canonical text. */
  readonly text: string;
  readonly decision: Permitted;
  /** Whether the editor may approve the edit in the same call; otherwise another person decides. */
  readonly decides: boolean;
}

/** Makes a new version of an open request: new input, nonce and digest, and the editor as an initiator. */
@Injectable()
export class EditRequestService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly transitions: ApplyTransitionService,
  ) {}

  /** The canonical text of an edit; undefined where no input was sent, or the same as the request's, unless nobody may edit that. */
  textOf({ request }: DecisionContext, { editedInput }: Decision): string | undefined {
    const text = editedInput === undefined ? undefined : jcs(editedInput);
    const isSame = text === request.input && !hasModelCall(request.capability, JSON.parse(request.input) as JsonObject);
    return isSame ? undefined : text;
  }

  /**
   * Asks the gate about the edited input.
   *
   * @throws Problem INVALID_INPUT, also for a model's call, CAPABILITY_BLOCKED: nothing changes, the present version may still be decided
   */
  assess(context: DecisionContext, text: string): WantedEdit | { readonly failed: FailedPrecondition } {
    const { request, facts } = context;
    if (hasModelCall(request.capability, JSON.parse(request.input) as JsonObject)) {
      throw new Problem('INVALID_INPUT', 'A call to a language model is approved or rejected as it stands.');
    }
    const asked = decideAgain(request, facts, JSON.parse(text) as JsonObject);
    if ('failed' in asked) return asked;
    const { decision } = asked;
    switch (decision.kind) {
      case 'refuse':
        return { failed: { code: decision.code.toLowerCase(), detail: decision.detail } };
      case 'invalid': {
        const errors = decision.errors.map(({ pointer, message }) => ({ pointer: pointer.replace(/^\/input/, '/editedInput'), message }));
        throw new Problem(decision.code, 'The edited input does not fit the capability.', { errors });
      }
      case 'block':
        throw new Problem('CAPABILITY_BLOCKED', 'The edited action is blocked by policy.');
      case 'ask':
      case 'run': {
        const separation = stricterOf(request.separationOfDuties, facts.separationOfDuties);
        const escalates = request.hitlMode === 'escalate' || isEscalation(decision);
        return { text, decision, decides: !escalates && quorumOf(context) === null && separation === 'standard' };
      }
    }
  }

  /**
   * Writes the new version into request and execution, and counts its uses anew. Where the gate answers `escalate` for the new input,
   * the request goes to admins.
   */
  async edit(
    tx: Tx, { request, facts }: DecisionContext, { text, decision }: WantedEdit, editor: string, record: DecisionRecord,
  ): Promise<HitlRequestEntity> {
    const edited = versionOf(request, { text, decision, editor, editedAt: facts.now });
    await this.requests.rewrite(tx, request, edited);
    const { organizationId, executionId, editedBy: by, editedAt, editDiff: diff } = edited;
    const edit = { by, at: editedAt!.toISOString(), diff } as JsonObject;
    const effectiveMode = edited.hitlMode === 'escalate' ? { effectiveMode: edited.hitlMode } : {};
    await this.executions.edit(tx, { organizationId, id: executionId }, { input: text, edit, ...effectiveMode });
    if (hasLimits(facts)) await this.usage.askAnew(tx, organizationId, executionId, grantUses(facts, decision.uses));
    const { version, digest } = edited;
    const command: HitlCommand = { kind: 'edit', version, digest, input: JSON.parse(text) as JsonObject, diff: diff! };
    const { request: moved } = await this.transitions.apply(tx, { request: edited, command, actorId: editor, record }, facts);
    if (request.hitlMode === edited.hitlMode) return moved;
    const escalate: HitlCommand = { kind: 'escalate', reason: ESCALATION_REASON, toLevel: HIGHEST_LEVEL, by: 'system', anew: true };
    const byGate = { actorId: 'system', record: { basis: record.basis } };
    return (await this.transitions.apply(tx, { request: moved, command: escalate, ...byGate }, facts)).request;
  }
}

const ESCALATION_REASON = 'The gate asks for an admin of what it was edited into.';

function isEscalation(decision: Permitted): boolean {
  return decision.kind === 'ask' && decision.mode === 'escalate';
}

interface Edit {
  text: string;
  decision: Permitted;
  editor: string;
  editedAt: Date;
}

/** The next version, with a digest of its own and the editor among the initiators. */
function versionOf(request: HitlRequestEntity, { text, decision, editor, editedAt }: Edit): HitlRequestEntity {
  const requestedInput = request.requestedInput ?? request.input;
  const input = JSON.parse(text) as JsonObject;
  const next: HitlRequestEntity = {
    ...request,
    input: text,
    nonce: randomBytes(16).toString('base64url'),
    version: request.version + 1,
    reasons: [...decision.reasons],
    hitlMode: isEscalation(decision) ? 'escalate' : request.hitlMode,
    initiators: [...new Set([...request.initiators, editor])],
    requestedInput,
    editedBy: editor,
    editedAt,
    editDiff: editDiff(JSON.parse(requestedInput) as JsonObject, input) as unknown as JsonValue,
  };
  return { ...next, digest: digestOf(next, input) };
}
