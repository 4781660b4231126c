import type { Request } from 'express';
import { type ProblemCode, PROBLEMS } from '../../../domain/problems.js';
import { html } from './markup.js';
import { pageFrame } from './page-frame.js';
import type { Problem } from '../reply/problem.js';
import { contextOf } from '../request/request-context.js';

const HTML = /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i;

/**
 * Whether a refusal is read by a person: a browser goes to a page, which it always asks for as such, or calls too often to get as far
 * as a route. Programs that call the same route get the refusal that they get everywhere.
 */
export function isForPeople(problem: Problem, request: Request): boolean {
  const isPage = contextOf(request)?.via === 'page' || problem.code === 'RATE_LIMITED';
  return isPage && HTML.test(request.headers.accept ?? '');
}

/** Titles are for programs' logs; to people some of them say little. */
const HEADINGS: Partial<Record<ProblemCode, string>> = {
  VALIDATION_FAILED: 'That did not work', UNAUTHENTICATED: 'Please sign in', FORBIDDEN: 'That is not possible', NOT_FOUND: 'Nothing here',
};

/** The refusal as a page: what it says, and the way on. It needs no script, and loads nothing but the style. */
export function problemPage(problem: Problem, request: Request): string {
  const title = HEADINGS[problem.code] ?? PROBLEMS[problem.code].title;
  const requestId = contextOf(request)?.requestId;
  const detail = problem.detail ?? (problem.code === 'INTERNAL' ? 'Please report it with the number below.' : title);
  return pageFrame({
    title,
    main: html`<section class="card">
<h1>${title}</h1>
<p>${detail}</p>
<p class="actions"><a class="button" href="/sign-in">To the sign-in page</a></p>
${requestId === undefined ? undefined : html`<p class="number">${requestId}</p>`}</section>`,
  });
}
