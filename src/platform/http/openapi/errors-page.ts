import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import { problemType } from '../reply/problem.filter.js';
import { escapeHtml } from '../../../domain/escape-html.js';
import { inlineCode, page } from './docs-markup.js';
import { ADVICE } from './problem-advice.js';

/** Every refusal, with its status and what to do. Each problem's `type` leads to its section here. */
export function errorsPage(): string {
  const entries = (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => {
    const { status, title } = PROBLEMS[code];
    const type = problemType(code);
    return `<article class="problem" id="${type.slice(type.indexOf('#') + 1)}">
<h3><span class="status">${status}</span><a href="${type}"><code>${code}</code></a></h3>
<p>${escapeHtml(title)}.</p>
<p class="do">${inlineCode(ADVICE[code])}</p>
</article>`;
  });
  return page({
    title: 'Errors · Countersign',
    here: 'errors',
    main: `<h1>Errors</h1>
<p class="lead">Every refusal is <code>application/problem+json</code> (RFC 9457). Decide by <code>code</code>:
titles and details are for people and may change. The <a href="/docs/glossary#modes">modes and words</a> that they speak of are in the
glossary.</p>
<pre tabindex="0">{
  "type": "/docs/errors#validation-failed",
  "title": "The request is not valid",
  "status": 400,
  "detail": "/hitl_timeout_action must be one of: reject, approve, escalate, notify_only.",
  "instance": "/api/v1/capabilities/grant",
  "code": "VALIDATION_FAILED",
  "requestId": "5b1d2c1e-5c36-4c8e-9d0b-0f6f0d9c1a77",
  "errors": [{"pointer": "/hitl_timeout_action", "message": "must be one of: reject, approve, escalate, notify_only"}]
}</pre>
<div class="problems">
${entries.join('\n')}
</div>`,
  });
}
