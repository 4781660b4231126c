import { escapeHtml } from '../escape-html.js';
import type { DecisionLinks, Message } from './message.js';
import { type Outline, outlineOf } from './outline.js';
import { cut, oneLine } from './plain-text.js';

export interface EmailMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What mails of the same matter have in common, so that mail programs show them as one thread. */
  readonly thread: string;
}

/** Mail servers refuse long mails; what is longer is read on the page. */
const INPUT_MAX = 50_000;

const HINT = 'Opening a link decides nothing: the page shows the whole action and asks you.';

/** A mail to one person. @param links theirs, where the mail asks for a decision */
export function emailMessage(message: Message, links?: DecisionLinks): EmailMessage {
  const outline = outlineOf(message);
  const shown = { ...outline, ...(outline.links === undefined || links === undefined ? {} : { links }) };
  return {
    subject: subjectOf(message, outline),
    text: textOf(shown),
    html: htmlOf(shown),
    headers: {
      // RFC 3834: nobody's absence is answered to a machine.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(outline.isHigh ? { 'X-Priority': '1 (Highest)', 'Importance': 'high' } : {}),
    },
    thread: message.about === 'request' ? message.request.id : message.about === 'execution' ? message.execution.id : message.deliveryId,
  };
}

/** The same for all mails about a request but for `Re:`, since some mail programs make a thread of nothing else. */
function subjectOf(message: Message, { title, isHigh }: Outline): string {
  const high = isHigh ? '[High priority] ' : '';
  if (message.about !== 'request') return oneLine(`${high}${title}`);
  const { agentName, capability } = message.request;
  const answer = message.event === 'hitl.request.created' ? '' : 'Re: ';
  return oneLine(`${answer}${high}Approval of ${oneLine(capability, 80)} for ${oneLine(agentName, 80)}`);
}

function textOf({ title, isHigh, facts, reasons, input, links, reference }: Outline): string {
  return [
    ...(isHigh ? ['HIGH PRIORITY'] : []),
    title,
    '',
    ...facts.map(([label, value]) => `${label}: ${value}`),
    ...(reasons.length === 0 ? [] : ['', 'Why a person is asked:', ...reasons.map((reason) => `- ${reason}`)]),
    ...(input === undefined ? [] : ['', 'It runs with:', bounded(input)]),
    ...(links === undefined ? [] : ['', `Approve: ${links.approve}`, `Reject: ${links.reject}`, '', HINT]),
    '',
    reference,
    '',
  ].join('\n');
}

const MONO = 'font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px';
const DARK = `@media (prefers-color-scheme: dark) {
body, .page { background: #14171a !important; color: #e8eaed !important; }
.label, .reference { color: #a9b0b8 !important; }
pre { background: #1f2428 !important; color: #e8eaed !important; }
.high { background: #ffb4a9 !important; color: #410002 !important; }
.approve { background: #7ddb8f !important; color: #00210a !important; }
.reject { background: #ffb4a9 !important; color: #410002 !important; }
}`;

/** Simple HTML that mail programs of phones show well: one column, no table, no picture, styles where they are used. */
function htmlOf({ title, isHigh, facts, reasons, input, links, reference }: Outline): string {
  const button = (name: string, colour: string, href: string, text: string) =>
    `<a class="${name}" href="${escapeHtml(href)}" style="display:block;max-width:320px;margin:0 0 12px;padding:14px 20px;`
    + `border-radius:8px;background:${colour};color:#ffffff;font-weight:600;text-align:center;text-decoration:none">${text}</a>`;
  const label = (text: string) => `<span class="label" style="color:#57606a;font-size:14px">${escapeHtml(text)}</span>`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(title)}</title><style>${DARK}</style></head>`,
    '<body style="margin:0;background:#ffffff;color:#1c1f23">',
    '<div class="page" style="max-width:600px;margin:0 auto;padding:20px;font-family:system-ui,-apple-system,\'Segoe UI\',sans-serif;'
      + 'font-size:16px;line-height:1.5;overflow-wrap:anywhere;background:#ffffff;color:#1c1f23">',
    ...(isHigh ? ['<p class="high" style="display:inline-block;margin:0 0 12px;padding:2px 10px;border-radius:6px;background:#b42318;'
      + 'color:#ffffff;font-weight:600">High priority</p>'] : []),
    `<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escapeHtml(title)}</h1>`,
    ...facts.map(([name, value]) => `<p style="margin:0 0 8px">${label(name)}<br>${escapeHtml(value)}</p>`),
    ...(reasons.length === 0 ? [] : [
      `<p style="margin:16px 0 4px">${label('Why a person is asked')}</p><ul style="margin:0 0 8px;padding-left:20px">`,
      ...reasons.map((reason) => `<li>${escapeHtml(reason)}</li>`), '</ul>',
    ]),
    ...(input === undefined ? [] : [
      `<p style="margin:16px 0 4px">${label('It runs with')}</p>`,
      `<pre style="margin:0 0 20px;padding:12px;border-radius:8px;background:#f3f4f6;color:#1c1f23;white-space:pre-wrap;`
        + `overflow-wrap:anywhere;${MONO}">${escapeHtml(bounded(input))}</pre>`,
    ]),
    ...(links === undefined ? [] : [
      button('approve', '#1a7f37', links.approve, 'Look, and approve'),
      button('reject', '#b42318', links.reject, 'Look, and reject'),
      `<p style="margin:0 0 16px">${label(HINT)}</p>`,
    ]),
    `<p class="reference" style="margin:0;color:#57606a;${MONO};font-size:12px">${escapeHtml(reference)}</p>`,
    '</div></body></html>',
    '',
  ].join('\n');
}

function bounded(input: string): string {
  return input.length <= INPUT_MAX ? input : `${cut(input, INPUT_MAX)}\nThis is not all of it. The page shows the rest.`;
}
