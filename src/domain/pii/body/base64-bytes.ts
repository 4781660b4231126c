const BYTES_MIN = 128;
const BYTES = /^(?:data:[^\s,]{0,200};base64,)?(?:[A-Za-z0-9+/_-]{40,}\r?\n)*[A-Za-z0-9+/_-]+={0,2}\s?$/;

/** A line of base64 is no shorter, and words are. */
const LINE_MIN = 40;
/** Runs of it in other words. */
const RUN = /(?:[A-Za-z0-9+/_-]{40,}(?:\r?\n)?)+/g;
/** Such a token is found as a secret, its parts are no bytes of a file. */
const JWT = /(?<![\w-])eyJ[\w-]+\.eyJ[\w-]+(?:\.[\w-]*)?/g;

const IN_BASE64 = new Uint8Array(128);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') IN_BASE64[letter.charCodeAt(0)] = 1;

/** Whether a text is, or holds, bytes of an image, of sound or of a file in base64: words are shorter. */
export function bytesIn(text: string): 'all' | 'some' | undefined {
  if (text.includes(';base64,')) return BYTES.test(text) ? 'all' : /;base64,[\w+/]{4}/.test(text) || hasRun(text) ? 'some' : undefined;
  if (!hasLine(text)) return undefined;
  if (BYTES.test(text)) return isLong(text) ? 'all' : undefined;
  return hasRun(text) ? 'some' : undefined;
}

/** Whether a line of base64 may stand in a text: one of its letters is then every fortieth of the text. Few texts are looked at closer. */
function hasLine(text: string): boolean {
  for (let at = LINE_MIN - 1; at < text.length; at += LINE_MIN) {
    let [start, end] = [at, at];
    while (end - start < LINE_MIN && isBase64(text, end)) end++;
    if (end === at) continue;
    while (end - start < LINE_MIN && isBase64(text, start - 1)) start--;
    if (end - start >= LINE_MIN) return true;
  }
  return false;
}

function isBase64(text: string, at: number): boolean {
  return IN_BASE64[text.charCodeAt(at)] === 1;
}

function hasRun(text: string): boolean {
  return (text.replace(JWT, '').match(RUN) ?? []).some(isLong);
}

function isLong(run: string): boolean {
  return run.length >= BYTES_MIN && /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);
}
