import { Injectable } from '@nestjs/common';
import { checkConnector, type Connector, type McpConnector, originOf, renderMcpHeaders } from '../../domain/gate/connector.js';
import { HiddenSecrets } from '../../domain/gate/connectors/hidden-secrets.js';
import { mcpKey } from '../../domain/gate/connectors/mcp-connector.js';
import { checkInputSchema } from '../../domain/gate/input-schema.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { type FieldError, Problem } from '../../platform/http/reply/problem.js';
import { McpClient } from '../../platform/outbound/mcp/mcp-client.js';
import { OutboundGuard } from '../../platform/outbound/outbound-guard.js';
import { ConnectorSecrets } from './secrets/connector-secrets.service.js';

const LOOK_UP_MS = 15_000;
const UNUSABLE = 'The definition cannot be used.';

/** What is wanted of a definition. Null clears. */
export interface WantedParts {
  readonly inputSchema?: JsonObject | null;
  readonly connector?: JsonObject | null;
}

/** The same once it is checked, with defaults. */
export interface PreparedParts {
  readonly inputSchema?: JsonObject;
  readonly connector?: Connector;
  /** Of the connector's tool, as its server tells it. */
  readonly toolSchema?: JsonValue;
}

/** Checks schema and connector of a definition before it is written, and looks its tool up where it has one: outside of any transaction. */
@Injectable()
export class PrepareDefinitionService {
  constructor(
    private readonly outbound: OutboundGuard,
    private readonly secrets: ConnectorSecrets,
    private readonly mcp: McpClient,
  ) {}

  /** @throws Problem VALIDATION_FAILED with pointers, UNSAFE_URL, CONFLICT */
  async prepare(organizationId: string, wanted: WantedParts): Promise<PreparedParts> {
    const errors: FieldError[] = [];
    if (wanted.inputSchema) {
      const check = checkInputSchema(wanted.inputSchema);
      if (!check.ok) errors.push(...check.errors);
    }
    let connector: Connector | undefined;
    if (wanted.connector) {
      const check = checkConnector(wanted.connector);
      if (check.ok) connector = check.connector;
      else errors.push(...check.errors);
    }
    if (errors.length > 0) throw new Problem('VALIDATION_FAILED', UNUSABLE, { errors });
    if (connector) this.assertSafe(connector);
    return {
      ...(wanted.inputSchema ? { inputSchema: wanted.inputSchema } : {}),
      ...(connector?.type === 'mcp' ? await this.withTool(organizationId, connector) : connector ? { connector } : {}),
    };
  }

  /** Within the unit of work that writes the definition. @throws Problem VALIDATION_FAILED, UNSAFE_URL */
  async assertSecrets(tx: Tx, organizationId: string, { connector }: PreparedParts): Promise<void> {
    if (connector) await this.secrets.assertUsable(organizationId, connector, tx);
  }

  /** The schema of a connector's tool, for a definition that has none of its own. @throws Problem VALIDATION_FAILED */
  schemaOfTool({ toolSchema }: PreparedParts): JsonObject | undefined {
    if (!isJsonObject(toolSchema)) return undefined;
    const check = checkInputSchema(toolSchema);
    if (check.ok) return toolSchema;
    const errors = check.errors.map(({ pointer, message }) => ({ pointer, message: `of the tool itself ${message}; send another one` }));
    throw new Problem('VALIDATION_FAILED', 'The tool\'s own schema cannot be used: send an inputSchema.', { errors });
  }

  private assertSafe(connector: Connector): void {
    const origin = originOf(connector);
    if (origin === undefined) return;
    const checked = this.outbound.checkUrl(origin);
    if (!checked.ok) throw new Problem('UNSAFE_URL', checked.reason, { errors: [{ pointer: '/connector/url', message: checked.reason }] });
  }

  private async withTool(organizationId: string, connector: McpConnector): Promise<Pick<PreparedParts, 'connector' | 'toolSchema'>> {
    await this.secrets.assertUsable(organizationId, connector);
    const secrets = await this.secrets.open(organizationId, connector);
    if (!secrets.ok) throw unusable('/connector/headers', secrets.message);
    const headers = renderMcpHeaders(connector, secrets.values);
    if (!headers.ok) throw unusable('/connector/headers', 'a secret cannot stand there: too long, or not printable ASCII');
    const { url, tool: name, maxBytes, toolDigest } = connector;
    const target = { url, headers: headers.request, maxBytes, timeoutMs: LOOK_UP_MS, signal: new AbortController().signal };
    const known = await this.mcp.freshTool(mcpKey(organizationId, connector), target, name);
    if ('failed' in known) throw unusable('/connector/url', `the tool cannot be looked up: ${known.message}`);
    const { tool, digest } = known;
    if (!tool || digest === undefined) throw unusable('/connector/tool', 'is not the name of a tool that the server has');
    if (toolDigest !== undefined && toolDigest !== digest) {
      throw new Problem('CONFLICT', 'The tool is not as toolDigest says. Leave it out to take the tool as it is now.');
    }
    // What the server tells is kept with the definition and in the log, where no secret belongs.
    const schemaText = JSON.stringify(tool.inputSchema ?? null);
    const holdsSecret = new HiddenSecrets(secrets.values.values()).text(schemaText) !== schemaText;
    if (holdsSecret) throw unusable('/connector/tool', 'has a schema that holds a secret');
    const { inputSchema: toolSchema } = tool;
    return { connector: { ...connector, toolDigest: digest }, ...(toolSchema === undefined ? {} : { toolSchema }) };
  }
}

function unusable(pointer: string, message: string): Problem {
  return new Problem('VALIDATION_FAILED', UNUSABLE, { errors: [{ pointer, message }] });
}
