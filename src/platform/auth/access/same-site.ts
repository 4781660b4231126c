/** The headers that say from which site a browser's call came. */
export interface BrowserCall {
  readonly method: string;
  /** A GET that changes something all the same. */
  readonly changes?: boolean | undefined;
  /** The header `Origin` (RFC 6454, section 7). */
  readonly origin?: string | undefined;
  /** The header `Sec-Fetch-Site` (W3C Fetch Metadata), which no page can set. */
  readonly fetchSite?: string | undefined;
  readonly hasBody: boolean;
  /** The header `Content-Type`. */
  readonly contentType?: string | undefined;
  /** The route takes a form, and looks at the form's token itself. */
  readonly takesForm?: boolean | undefined;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const JSON_TYPE = /^application\/(?:json|[!#$&^_.+a-z0-9-]+\+json)$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Why a call that a browser sends a cookie along with may not change anything; undefined when it may. A browser says where a call that
 * changes something came from. Two things must be right: the page is one of ours (or of those that may call), and the body is of a
 * kind that a page from elsewhere cannot send without being asked, or carries our form's token.
 *
 * @param allowed origins whose pages may call
 */
export function refusalOf(call: BrowserCall, allowed: ReadonlySet<string>): string | undefined {
  const { method, changes = false, origin, fetchSite, hasBody, takesForm = false } = call;
  if (READS.has(method) && !changes) return undefined;
  // Of a page without an origin (sandboxed, or one that hides it) nobody knows whose it is, whatever else it says.
  if (origin === 'null') return 'the call comes from a page without an origin';
  const isKnown = (origin !== undefined && allowed.has(origin)) || fetchSite === 'same-origin';
  if (!isKnown && origin === undefined) return 'the call does not say from which page it comes';
  if (!isKnown) return 'the call comes from a page of another site';
  if (!hasBody) return undefined;
  const type = typeOf(call.contentType);
  if (JSON_TYPE.test(type) || (takesForm && type === FORM_TYPE)) return undefined;
  return 'the body is neither JSON nor a form of ours';
}

function typeOf(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]!.trim().toLowerCase();
}
