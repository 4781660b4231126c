import { asAgent, type Reply } from '../http/actors.js';
import type { Rule } from './hitl-commands.js';
import { type Answer, grant, type Model } from './hitl-model.js';
import { grantBody, unequal, type HitlScenario } from './hitl-scenario.js';

/**
 * Changes what holds, on the server and in the model.
 *
 * @param window of a grant, in seconds
 * @returns where the two differ
 */
export async function govern(model: Model, scenario: HitlScenario, command: Rule, window?: number): Promise<string | undefined> {
  const { root, agents, stops } = scenario;
  if (command.kind === 'strict' || command.kind === 'standard') {
    model.strict = command.kind === 'strict';
    return differs(command.kind, { status: 200 }, await scenario.separate(command.kind));
  }
  const nth = command.agent;
  const agent = model.agents[nth]!;
  const { id } = agents[nth]!;
  switch (command.kind) {
    case 'grant': {
      const { capability, terms } = command;
      const body = { ...grantBody(capability, terms), ...(window === undefined ? {} : { hitlTimeoutSeconds: window }) };
      const expected = grant(model, nth, capability, terms);
      const difference = differs('grant', expected, await root.post(`/api/v1/agents/${id}/capabilities`, body));
      // What was not held when the token was made, it does not hold.
      if (difference === undefined && expected.status === 201 && agent.active) await renewToken(model, scenario, nth);
      return difference;
    }
    case 'revoke': {
      const listed = (await root.get(`/api/v1/agents/${id}/capabilities`)).expect(200);
      const grants = listed.list('grants') as { id: string; capability: string }[];
      const held = grants.find(({ capability }) => capability === command.capability)!;
      agent.grants.get(command.capability)!.held = false;
      return differs('revoke', { status: 204 }, await root.delete(`/api/v1/capabilities/grant/${held.id}`));
    }
    case 'stop': {
      const made = await root.post('/api/v1/stops', { scope: 'agent', id, reason: 'a walk' });
      agent.stopped = true;
      stops.set(nth, made.expect(201).text('stop.id'));
      return undefined;
    }
    case 'resume': {
      const stop = stops.get(nth)!;
      agent.stopped = false;
      stops.delete(nth);
      return differs('resume', { status: 204 }, await root.delete(`/api/v1/stops/${stop}`));
    }
    case 'deactivate':
      agent.active = false;
      return differs('deactivate', { status: 200 }, await root.post(`/api/v1/agents/${id}/deactivate`));
    case 'activate': {
      agent.active = true;
      const difference = differs('activate', { status: 200 }, await root.post(`/api/v1/agents/${id}/activate`));
      if (difference !== undefined) return difference;
      // Activation ends every older token.
      await renewToken(model, scenario, nth);
      return undefined;
    }
  }
}

/** Of what they hold and are now. */
async function renewToken(model: Model, { agents, root, group }: HitlScenario, nth: number): Promise<void> {
  const { grants } = model.agents[nth]!;
  model.agents[nth]!.inToken = new Set([...grants].flatMap(([capability, { held }]) => (held ? [capability] : [])));
  const token = (await root.post(`/api/v1/agents/${agents[nth]!.id}/token`)).expect(200).text('token');
  agents[nth] = { ...agents[nth]!, token, client: asAgent(group.server, token) };
}

/** Where an answer is not the one that the model gives. */
export function differs(what: string, { status, code, action }: Answer, reply: Reply): string | undefined {
  const { body } = reply as Reply<{ code?: string; action?: string } | undefined>;
  const wanted = { status, code: code ?? null, action: action ?? null };
  const reported = { status: reply.status, code: body?.code ?? null, action: body?.action ?? null };
  return unequal(`the answer to ${what}`, wanted, reported);
}
