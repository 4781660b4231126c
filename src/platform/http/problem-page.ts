import type { Request } from 'express';
import { PROBLEMS } from '../../domain/problems.js';
import { escapeHtml } from './docs/html.js';
import type { Problem } from './problem.js';
import { contextOf } from './request-context.js';

/**
 * Whether a refusal is read by a person: the route is a page, or a browser that goes somewhere calls too often to get as far as a
 * route.
 */
export function isForPeople(problem: Problem, request: Request): boolean {
  if (contextOf(request)?.via === 'page') return true;
  return problem.code === 'RATE_LIMITED' && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(request.headers.accept ?? '');
}

/** The refusal as a page: what it says, and the way on. It needs no script, and loads nothing but the style. */
export function problemPage(problem: Problem, request: Request): string {
  const { title } = PROBLEMS[problem.code];
  const requestId = contextOf(request)?.requestId;
  const detail = problem.detail ?? (problem.code === 'INTERNAL' ? 'Please report it with the number below.' : title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/docs.css">
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(detail)}</p>
<p><a href="/sign-in">To the sign-in page</a></p>
${requestId === undefined ? '' : `<p><small>${escapeHtml(requestId)}</small></p>\n`}</main>
</body>
</html>
`;
}
