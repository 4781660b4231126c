import { afterAll, beforeAll } from '@jest/globals';
import { anAgent, type BuiltAgent, type GrantTerms } from '../builders/agents.js';
import { anOrganization } from '../builders/people.js';
import { asRoot, type Client } from '../http/actors.js';
import { startServer, type TestServer } from '../servers/server.js';
import { startModelProvider, type ModelProvider } from './model-provider.js';

export const LLM = '/api/v1/llm';
export const ADDRESS = 'ada.lovelace@analytical.example';

export interface ModelCaller extends BuiltAgent {
  readonly organizationId: string;
}

/** A server and a provider of both families, of the tests of one file. */
export class GatewayScene {
  provider!: ModelProvider;
  server!: TestServer;

  get root(): Client {
    return asRoot(this.server);
  }

  /** An agent that may ask models, of an organization of its own with these settings. */
  async caller(settings: object = {}, terms: GrantTerms = {}): Promise<ModelCaller> {
    const organizationId = await anOrganization(this.server);
    if (Object.keys(settings).length > 0) (await this.root.patch(`/api/v1/organizations/${organizationId}`, { settings })).expect(200);
    const agent = await anAgent(this.server).inOrganization(organizationId).granted('llm:invoke', terms).create();
    return { ...agent, organizationId };
  }
}

/**
 * Set up before the tests of the file, and taken down behind them.
 * @param env of the server, besides the provider's
 * @param afterwards what is to be seen at the end
 */
export function gatewayScene(env: Readonly<Record<string, string>> = {}, afterwards?: (server: TestServer) => Promise<void>): GatewayScene {
  const scene = new GatewayScene();
  beforeAll(async () => {
    scene.provider = await startModelProvider();
    scene.server = await startServer({ env: { ...scene.provider.env, ...env } });
  });
  afterAll(async () => {
    await afterwards?.(scene.server);
    await scene.server.stop();
    await scene.provider.close();
  });
  return scene;
}
