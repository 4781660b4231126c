import { escapeHtml } from '../../../domain/escape-html.js';
import { inlineCode, page } from './docs-markup.js';
import { GATE_PICTURE } from './gate-picture.js';
import { guideList } from './guides/guide-pages.js';
import type { Guides } from './guides/guides.js';

const STEPS: readonly [title: string, command: string, remark: string][] = [
  [
    'Register an agent',
    `curl -s $COUNTERSIGN_URL/api/v1/agents \\
  -H "Authorization: Bearer $COUNTERSIGN_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "mailer", "grants": [
        {"capability": "email.send", "hitlMode": "propose"}]}'`,
    'The answer holds the agent, and its `token`: what the agent calls with.',
  ],
  [
    'Let the agent act',
    `curl -s $COUNTERSIGN_URL/api/v1/execute \\
  -H "Authorization: Bearer $AGENT_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"capability": "email.send",
       "input": {"to": "anna@example.com"}}'`,
    'In mode `propose` nothing runs yet: `pending_hitl`, with a `hitlRequestId`.',
  ],
  [
    'Decide',
    `curl -s -X POST $COUNTERSIGN_URL/api/v1/hitl/$HITL_ID/approve \\
  -H "Authorization: Bearer $COUNTERSIGN_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"note": "checked the address"}'`,
    'An approval is for the very input that was shown, once. `runs: caller`: the agent acts now; with a connector this service does.',
  ],
  [
    'Read the record',
    `curl -s "$COUNTERSIGN_URL/api/v1/audit?agent_id=$AGENT_ID" \\
  -H "Authorization: Bearer $COUNTERSIGN_KEY"`,
    'Each entry carries the hash of the one before, so a changed or missing entry shows.',
  ],
];

/** The front page: what the service is, how to begin, the how-to pages, and every route with Swagger UI below. */
export function apiPage(guides: Guides): string {
  const steps = STEPS.map(
    ([title, command, remark]) => `<li><h3>${title}</h3>
<pre tabindex="0" class="type"><code>${escapeHtml(command)}</code></pre>
<p>${inlineCode(remark)}</p></li>`,
  );
  return page({
    title: 'Countersign API',
    here: 'api',
    head: `<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<script src="/docs/assets/swagger-ui-bundle.js" defer></script>
<script src="/docs/assets/docs.js"></script>
`,
    main: `<h1>Nothing an agent does goes past the gate unseen</h1>
<p class="lead">Every action is decided by policy, shown to a person where it must be, and recorded so that it can be proven.</p>
<div class="picture">${GATE_PICTURE}</div>
<h2 id="begin">Begin in four calls</h2>
<pre tabindex="0" class="type"><code>export COUNTERSIGN_URL=http://localhost:3000
export COUNTERSIGN_KEY=svc_root_…</code></pre>
<ol class="steps">${steps.join('\n')}</ol>
<h2 id="how-to">How to</h2>
<p>Each is a story to type in, from the first line to the last, with the answers and with what can go wrong.</p>
${guideList(guides)}
<h2 id="routes">All routes</h2>
<div id="api"></div>
<noscript><p>Without scripts, read <a href="/openapi.json">openapi.json</a>, from which this list is made.</p></noscript>`,
  });
}
