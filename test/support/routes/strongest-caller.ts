import type { Route } from './routes.js';
import type { TestServer } from '../servers/server.js';
import { originOf } from '../builders/tenants.js';
import { ROOT_KEY } from '../servers/test-run.js';

/** Whoever calls where root may not. */
export interface Callers {
  readonly server: TestServer;
  readonly agentToken: string;
  readonly agentKey: string;
  readonly ownerKey: string;
}

/** Headers, name and value in turn, of the strongest caller whom the route admits, from a page of the server's own. */
export function byTheStrongest({ access }: Route, { server, agentToken, agentKey, ownerKey }: Callers): string[] {
  const agents = { 'agents.refresh-token': agentToken, 'node.work': agentToken, 'agents.exchange-key': agentKey }[access];
  const credential = agents ?? (/^sign-in\.|-self$/.test(access) ? ownerKey : ROOT_KEY);
  return ['authorization', `Bearer ${credential}`, 'origin', originOf(server)];
}

/** Takes calls of our own pages only, and of them no other body than JSON: that is refused before anything is read of it. */
export const isOfPages = ({ template }: Route): boolean => /\/passkey(?:\/options)?$/.test(template);
