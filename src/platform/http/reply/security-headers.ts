import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * For answers of the API, which nobody shows as a page, and for pages of ours: scripts and styles from this origin only,
 * none inline. A page that needs more sets its own header.
 */
const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  manifestSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
};

/** Answers may hold credentials and personal data, so they are not stored anywhere unless a route says otherwise. */
export function securityHeaders(): RequestHandler[] {
  const headers = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: CONTENT_SECURITY_POLICY },
    // Pages may be opened by, and post to, nobody else; the API itself is governed by CORS.
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });
  return [
    headers as RequestHandler,
    (_request, response, next) => {
      response.setHeader('Cache-Control', 'no-store');
      next();
    },
  ];
}
