/**
 * How operations are called. Generators make the names of a client's functions of these ids, so they read as calls: `agents.register`,
 * `executions.execute`, `hitl.approve`.
 *
 * - An id is what the operation is about and a verb, each in camelCase, joined by a point.
 * - It is that of its controller and its handler: `AgentsController.register` is `agents.register`. Where these are named by what they do
 *   for the code rather than by what a client looks for, the handler's `@ApiOperation` names the id.
 * - What two paths do alike has two ids, each of which says what it does. A further path of one handler has its number at the end.
 * - Released ids stay: a client that is made anew must still compile.
 */
export const RULE = /^[a-z][A-Za-z]*\.[a-z][A-Za-z]*\d?$/;

/** The id of a handler that names none. */
export function operationIdOf(controller: string, method: string): string {
  const [, name = method, index = '0'] = /^(.+?)(?:\[(\d+)])?$/.exec(method) ?? [];
  const area = controller.replace(/Controller$/, '');
  return `${area.charAt(0).toLowerCase()}${area.slice(1)}.${name}${index === '0' ? '' : String(Number(index) + 1)}`;
}

/** Ids of one document. */
export class OperationIds {
  private readonly known = new Map<string, string>();

  /** @throws Error for an id that is not by the rule, or that another operation has: clients could not distinguish them */
  add(id: string | undefined, operation: string): void {
    if (id === undefined || !RULE.test(id) || /alias/i.test(id)) throw new Error(`${operation} has the operationId ${id}: it reads badly`);
    const other = this.known.get(id);
    if (other !== undefined) throw new Error(`${operation} and ${other} both have the operationId ${id}`);
    this.known.set(id, operation);
  }
}
