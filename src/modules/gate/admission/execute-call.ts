import { isDeepStrictEqual } from 'node:util';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { namesAccount } from '../../../domain/access/person.js';
import { isId } from '../../../domain/ids.js';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../domain/json.js';
import { type FieldError, Problem } from '../../../platform/http/reply/problem.js';
import type { DtoClass } from '../../../platform/http/fields/field-spec.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { refuseUnknown } from '../../../platform/http/fields/unknown-names.js';
import type { ChosenRuntime } from '../../executions/choose-runtime.js';
import type { RuntimeName } from '../runtimes/runtime.js';

/** The body of an execution, read and canonical. */
export interface ExecuteCall {
  readonly forAgentId?: string;
  readonly capability: string;
  readonly action?: string;
  readonly input: JsonObject;
  readonly inputText: string;
  readonly context?: JsonObject;
  readonly contextText?: string;
  readonly taskId?: string;
  readonly dryRun: boolean;
  /** Of a call that a module above the gate makes. */
  readonly from?: CallFrom;
}

/** How a module above the gate has its calls admitted. */
export interface CallFrom {
  readonly runtime: ChosenRuntime & { readonly runtime: RuntimeName };
  /** What people are shown, and what runs, where they are asked: the input and more. Undefined: it is too large for that. */
  readonly asked: () => { readonly input: JsonObject; readonly inputText: string } | undefined;
  /** What the log is told beside the decision. */
  readonly events: (executionId: string) => readonly AuditEvent[];
}

const CAPABILITY_MAX = 200;
const ACTION_MAX = 500;
const ID_MAX = 100;

/** In no document, and refused for what it asks. */
const SKIPS: ReadonlySet<string> = new Set(['skipHitl', 'skip_hitl']);

/** How a body is to be read. */
export interface ExecuteRules {
  /** Whose members may be there. */
  readonly dto: DtoClass;
  readonly query?: DtoClass;
  /** Other members are ignored. */
  readonly lenient?: boolean;
}

/**
 * Reads the body of `POST /execute`, and of `POST /hitl`. Written by hand, with the rules and errors of the DTO readers: the one
 * route on which their generality shows.
 *
 * @throws Problem VALIDATION_FAILED; FORBIDDEN for `skipHitl`, which is an option inside the process only
 */
export function readExecuteCall(body: JsonValue, { dto, query, lenient = false }: ExecuteRules): ExecuteCall {
  if (!isJsonObject(body)) throw invalid([{ pointer: '', message: 'must be a JSON object' }]);
  const errors: FieldError[] = [];
  const skip = pick(body, 'skipHitl', 'skip_hitl', errors);
  if (skip === true) throw new Problem('FORBIDDEN', 'skipHitl is for calls inside the service; no request may ask for it.');
  const meant = lenient ? undefined : refuseUnknown(dto, body, '', errors, { is: 'query', dto: query }, SKIPS);
  const forAgentId = text(body, errors, 'agentId', 'agent_id', ID_MAX, false);
  const capability = text(body, errors, 'capability', 'capability', CAPABILITY_MAX, !meant?.has('capability'));
  const action = text(body, errors, 'action', 'action', ACTION_MAX, false);
  const input = object(body, errors, 'input', 'payload') ?? {};
  const context = object(body, errors, 'context', 'context');
  if (context) checkPerson(context, errors);
  const taskId = context && taskOf(context, errors);
  const dryRun = pick(body, 'dryRun', 'dry_run', errors);
  if (dryRun !== undefined && typeof dryRun !== 'boolean') {
    errors.push({ pointer: named(body, 'dryRun', 'dry_run'), message: 'must be true or false' });
  }
  if (errors.length > 0) throw invalid(errors);
  return {
    capability: capability!,
    input,
    inputText: jcs(input),
    dryRun: dryRun === true,
    ...(forAgentId === undefined ? {} : { forAgentId }),
    ...(action === undefined ? {} : { action }),
    ...(context ? { context, contextText: jcs(context) } : {}),
    ...(taskId === undefined ? {} : { taskId }),
  };
}

function checkPerson(context: JsonObject, errors: FieldError[]): void {
  const found: FieldError[] = [];
  const person = pick(context, 'on_behalf_of', 'onBehalfOf', found);
  // In another form it would name nobody, and so keep nobody from approving.
  const isPerson = typeof person === 'string' && namesAccount(person);
  if (person !== undefined && person !== null && !isPerson) {
    const message = 'must be the id of a user, or their e-mail address alone: local-part@domain, in plain ASCII';
    found.push({ pointer: named(context, 'on_behalf_of', 'onBehalfOf'), message });
  }
  errors.push(...found.map(({ pointer, message }) => ({ pointer: `/context${pointer}`, message })));
}

/** A text that is no id of a task is the caller's own label. */
function taskOf(context: JsonObject, errors: FieldError[]): string | undefined {
  const found: FieldError[] = [];
  const id = pick(context, 'task_id', 'taskId', found);
  errors.push(...found.map(({ pointer, message }) => ({ pointer: `/context${pointer}`, message })));
  return isId('task', id) ? id : undefined;
}

/** Errors point at the name that was used. */
function named(body: JsonObject, name: string, other: string): string {
  return `/${Object.hasOwn(body, name) ? name : other}`;
}

/** The member by either of its names; both with different values is an error. */
function pick(body: JsonObject, name: string, other: string, errors: FieldError[]): JsonValue | undefined {
  const first = Object.hasOwn(body, name) ? body[name] : undefined;
  if (name === other || !Object.hasOwn(body, other)) return first;
  const second = body[other];
  if (first !== undefined && !isDeepStrictEqual(first, second)) {
    errors.push({ pointer: `/${other}`, message: `says something else than ${name}; give one of the two` });
  }
  return first === undefined ? second : first;
}

function text(body: JsonObject, errors: FieldError[], name: string, other: string, max: number, required: boolean): string | undefined {
  const value = pick(body, name, other, errors);
  if (value === undefined || (value === null && name === 'action')) {
    if (required) errors.push({ pointer: `/${name}`, message: `is required: it must be a string of 1 to ${max} characters` });
    return undefined;
  }
  if (typeof value === 'string' && value.length <= max && value.trim() !== '') return value;
  errors.push({ pointer: named(body, name, other), message: `must be a string of 1 to ${max} characters` });
  return undefined;
}

function object(body: JsonObject, errors: FieldError[], name: string, other: string): JsonObject | undefined {
  const value = pick(body, name, other, errors);
  if (value === undefined) return undefined;
  if (isJsonObject(value)) return value;
  errors.push({ pointer: named(body, name, other), message: 'must be an object' });
  return undefined;
}
