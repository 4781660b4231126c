import { isCapabilityName } from '../../domain/gate/catalogue.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { requestContext } from '../../platform/http/request/request-context.js';
import type { SpanEnd, SpanFacts, Tracing } from '../../platform/tracing/tracing.js';
import type { ExecuteCall } from './admission/execute-call.js';

/** Members of answers that spans say, none of which people wrote. */
const SAID = {
  status: 'countersign.status', effectiveMode: 'countersign.mode', hitlRequestId: 'countersign.hitl_request.id',
  executionId: 'gen_ai.tool.call.id',
} as const;

/**
 * Does a call under a span by OpenTelemetry's conventions for tools that agents execute (semantic-conventions-genai, `execute_tool`; in
 * development there). What is decided, asked and run for it are its children. Input, context and output are in none of them.
 */
export async function underToolSpan<Body>(
  tracing: Tracing, { capability }: ExecuteCall, { principal }: Caller, work: () => Promise<Reply<Body>>,
): Promise<Reply<Body>> {
  const context = requestContext.getStore();
  // Any other text may say anything.
  const tool = isCapabilityName(capability) ? capability : 'unknown';
  const span = tracing.begin({
    name: `execute_tool ${tool}`,
    parent: context?.traceparent,
    facts: {
      'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, 'gen_ai.tool.type': 'function',
      ...(principal.kind === 'agent' ? { 'gen_ai.agent.id': principal.agentId } : {}),
    },
  });
  if (context) context.traceparent = span.traceparent;
  let end: SpanEnd = { failure: 'INTERNAL' };
  try {
    const reply = await work();
    end = endOf(reply.body);
    return reply;
  } catch (error) {
    if (error instanceof Problem) end = { failure: error.code };
    throw error;
  } finally {
    span.end(end);
  }
}

function endOf(body: unknown): SpanEnd {
  const said = body as Readonly<Record<string, unknown>>;
  const facts: SpanFacts = Object.fromEntries(
    Object.entries(SAID).flatMap(([member, name]) => (typeof said[member] === 'string' ? [[name, said[member]]] : [])),
  );
  const { error } = said as { error?: { code?: string } };
  return { facts, failure: said['status'] === 'failed' ? (error?.code ?? 'failed') : undefined };
}
